// SPDX-License-Identifier: Apache-2.0

import ExampleSupport
import XMPP
import XMPPTestSupport

/// Two clients on a server of our own: Juliet's answers and listens, Romeo's asks and tells.
func demonstrate() async throws {
    let server = try await LoopbackServer.start(accounts: ["juliet": "secret", "romeo": "secret"])
    try await server.befriend("juliet", "romeo")

    let juliet = XMPPStream(try await server.configuration(for: "juliet"))
    let listener = ClimateListener()
    await juliet.answerRoomClimate { here }
    juliet.add(messageDelegate: listener)
    try await juliet.connect()
    try await juliet.goOnline()

    let romeo = XMPPStream(try await server.configuration(for: "romeo"))
    try await romeo.connect()
    try await romeo.goOnline()
    let address = try await romeo.onlineResource(of: try JID("juliet@localhost"))

    let features = try await romeo.discoverInformation(of: address).features
    try expect(features.contains(RoomClimate.namespace), "Juliet's client says that it knows climates")

    let answer = try await romeo.roomClimate(of: address)
    try expect(answer == here, "the climate is the one that was measured")
    say("asked \(address): \(answer)")

    let outside = RoomClimate(celsius: -3.25, humidity: 90)
    var message = Message(to: address.bare, body: "It is cold under your balcony.")
    message.roomClimate = outside
    try await romeo.send(message)
    for await (_, climate) in listener.climates {
        try expect(climate == outside, "the climate arrives with the message")
        break
    }
    say("the climate came back, and along with a message")

    await romeo.disconnect()
    await juliet.disconnect()
    await server.stop()
}
