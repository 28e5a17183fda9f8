// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore
import XMPPProtocol

@testable import XMPPStorage

@Suite("The rooms that an account is in", .timeLimit(.minutes(5)))
struct KeptRoomsTests {
    @Test("A room is there until it is forgotten; a stay takes the place of a visit, and no visit that of a stay")
    func keeping() async throws {
        let fixture = try StorageFixture()
        let rooms = KeptRooms(try await fixture.open())
        let (coven, heath) = (try JID("coven@rooms.example.net"), try JID("heath@rooms.example.net"))
        try await rooms.save(KeptRoom(jid: heath, nickname: "r", isVisit: true), of: fixture.romeo)
        try await rooms.save(KeptRoom(jid: coven, nickname: "r", password: "secret"), of: fixture.romeo)
        try await rooms.save(KeptRoom(jid: coven, nickname: "x", isVisit: true), of: fixture.romeo)
        try await rooms.rename("montague", in: coven, of: fixture.romeo)
        let stay = KeptRoom(jid: coven, nickname: "montague", password: "secret")
        let visit = KeptRoom(jid: heath, nickname: "r", isVisit: true)
        #expect(try await rooms.rooms(of: fixture.romeo) == [stay, visit])
        #expect(try await rooms.rooms(of: fixture.juliet).isEmpty)
        try await rooms.save(KeptRoom(jid: heath, nickname: "r"), of: fixture.romeo)
        #expect(try await rooms.rooms(of: fixture.romeo).map(\.isVisit) == [false, false])
        try await rooms.remove(coven, of: fixture.romeo)
        #expect(try await rooms.rooms(of: fixture.romeo).map(\.jid) == [heath])
    }

    @Test("A message to a room is there when the room says so, and not when the server has it (XEP-0045 §7.4)")
    func reflecting() async throws {
        let fixture = try StorageFixture()
        let database = try await fixture.open()
        let (outbox, store) = (DurableOutbox(database), DurableStreamStateStore(database))
        let coven = try JID("coven@rooms.example.net")
        let message = Message(to: coven, kind: .groupchat, body: "x", id: "m")
        _ = try await outbox.add(message, of: fixture.romeo, expires: nil)
        #expect(try await outbox.waiting(of: fixture.romeo, passingOver: [coven], limit: 9).isEmpty)
        let state = StreamState(jid: try fixture.romeo.withResource("orchard"), id: "s")
        try await store.keep(
            [.began(state), .sent([UnacknowledgedStanza(message.element)]), .acknowledged(1)], of: fixture.romeo)
        #expect(try await outbox.unreflected(of: fixture.romeo).map(\.state) == [.sent])
        // Nobody can say: it stays in doubt, and does not go again.
        try await outbox.resolve("m", to: coven, of: fixture.romeo, isAtServer: nil)
        #expect(try await outbox.uncertain(of: fixture.romeo).map(\.message.id) == ["m"])
        try await outbox.resolve("m", to: coven, of: fixture.romeo, isAtServer: false)
        #expect(try await outbox.waiting(of: fixture.romeo, limit: 9).map(\.message.id) == ["m"])
        try await outbox.note(.server, of: "m", to: coven, of: fixture.romeo, because: nil)
        #expect(try await outbox.unreflected(of: fixture.romeo).isEmpty)
        try await outbox.resolve("m", to: coven, of: fixture.romeo, isAtServer: false)
        #expect(try await outbox.entry("m", to: coven, of: fixture.romeo)?.state == .server)
    }
}
