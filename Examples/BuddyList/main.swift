// SPDX-License-Identifier: Apache-2.0

import ExampleSupport
import XMPP

await run("BuddyList") { options in
    guard !options.isDemo else { return try await demonstrate() }
    let screen = Screen()
    let app = AppDelegate(try options.configuration(), screen: screen)
    try await app.run(typed: standardInput())
}
