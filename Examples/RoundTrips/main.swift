// SPDX-License-Identifier: Apache-2.0

import ExampleSupport
import XMPP

await run("RoundTrips") { options in
    guard !options.isDemo else { return try await demonstrate() }
    say("from the open connection to the session, how often one side waited for the other:")
    for login in try await logins(as: try options.configuration()) { say(login.description) }
}
