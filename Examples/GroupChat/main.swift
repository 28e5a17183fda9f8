// SPDX-License-Identifier: Apache-2.0

import ExampleSupport
import XMPP

await run("GroupChat") { (options: Options) in
    guard !options.isDemo else { return try await demonstrate() }
    guard let room = options.words.first, options.words.count == 1 else {
        throw UsageError("usage: GroupChat [options] ROOM\n\(Options.usage)")
    }
    let chat = GroupChat(
        try JID(room), try options.configuration(), reconnect: ReconnectPolicy(firstDelay: .seconds(2)),
        screen: Screen())
    try await chat.run(typed: standardInput())
}
