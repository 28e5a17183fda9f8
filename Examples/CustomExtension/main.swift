// SPDX-License-Identifier: Apache-2.0

import ExampleSupport
import XMPP

let usage = """
    usage: CustomExtension [options] answer         answer until SIGTERM or Ctrl-C
           CustomExtension [options] ask ADDRESS    ask a contact that is online
           CustomExtension [options] tell ADDRESS   send a message with a climate in it
    \(Options.usage)
    """

/// There is no thermometer: every room is as pleasant as this one.
let here = RoomClimate(celsius: 21.5, humidity: 48)

await run("CustomExtension") { options in
    guard !options.isDemo else { return try await demonstrate() }
    let stream = XMPPStream(try options.configuration())
    switch (options.words.first, options.words.dropFirst().first) {
    case ("answer", nil):
        await stream.answerRoomClimate { here }
        let listener = ClimateListener()
        stream.add(messageDelegate: listener)
        try await stream.connect()
        try await stream.goOnline()
        await untilTerminated()
        withExtendedLifetime(listener) {}
    case ("ask", let address?):
        let contact = try JID(address)
        try await stream.connect()
        try await stream.goOnline()
        let climate = try await stream.roomClimate(of: try await stream.onlineResource(of: contact))
        say("\(climate)")
    case ("tell", let address?):
        try await stream.connect()
        try await stream.goOnline()
        var message = Message(to: try JID(address), body: "This is how it is here: \(here)")
        message.roomClimate = here
        try await stream.send(message)
        try await stream.waitUntilHandled()
    default:
        throw UsageError(usage)
    }
    await stream.disconnect()
}
