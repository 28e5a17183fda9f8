// SPDX-License-Identifier: Apache-2.0

import ExampleSupport
import XMPP

await run("EchoBot") { options in
    guard !options.isDemo else { return try await demonstrate() }
    let client = XMPPClient(try options.configuration(), presence: Presence(status: "I repeat what you say"))
    try await keepOnline(client, EchoBot(), until: untilTerminated)
}
