// SPDX-License-Identifier: Apache-2.0

import SocketIO
import Testing
import XMPPCore
import XMPPXML

@testable import XMPP

@Suite("What waits for those who read events (RFC 6120 §13.12)")
struct EventQueueTests {
    private let deliveries: [EventDelivery]

    init() throws {
        let stream = XMPPStream(XMPPConfiguration(jid: try JID("romeo@example.net"), password: "secret"))
        deliveries = [EventDelivery(stream: stream, event: .connected)]
    }

    @Test("a stream pauses when more bytes wait for a delegate, or are worked on, than may, until it is half")
    func pauses() async throws {
        let drained = Locked(0)
        let queue = EventQueue(limit: 10, maximumBytes: 100, overflow: .pausesReading) {
            drained.withLock { $0 += 1 }
        }
        #expect(!queue.append(deliveries, bytes: 100) && !queue.isOverfull)
        #expect(queue.append(deliveries, bytes: 1) && queue.isOverfull)
        #expect(try await queue.next()?.count == 2)
        #expect(queue.append(deliveries, bytes: 51) && queue.isOverfull, "those that are worked on count")
        #expect(try await queue.next()?.count == 1)
        #expect(queue.isOverfull && drained.withLock { $0 } == 0, "51 are more than half")
        #expect(queue.append(deliveries, bytes: 50))
        #expect(try await queue.next()?.count == 1)
        #expect(!queue.isOverfull && drained.withLock { $0 } == 1)
        #expect(!queue.append(deliveries, bytes: 50))
        #expect(queue.append(deliveries, bytes: 1))
        queue.discard()
        #expect(!queue.isOverfull && drained.withLock { $0 } == 2)
    }

    @Test("a sequence ends with an error, behind what it holds, when more bytes wait than may")
    func fails() async throws {
        let queue = EventQueue(limit: 10, maximumBytes: 100, overflow: .fails)
        #expect(!queue.append(deliveries, bytes: 60))
        #expect(try await queue.next()?.count == 1)
        #expect(!queue.append(deliveries, bytes: 40))
        #expect(!queue.append(deliveries, bytes: 1))
        #expect(try await queue.next()?.count == 1)
        let error = await #expect(throws: XMPPError.self) { _ = try await queue.next() }
        #expect(error?.code == .overflow && error?.message.contains("100 bytes") == true)
    }

    @Test("an event counts for what its stanza holds")
    func sizes() throws {
        let juliet = try JID("juliet@example.net")
        let text = String(repeating: "x", count: 5_000)
        var presence = Presence(status: text)
        presence.from = juliet
        let message = Message(to: juliet, body: text)
        let item = RosterItem(jid: juliet, name: text)
        var departure = RoomDeparture(.kicked)
        departure.reason = text
        let occupant = Occupant("nurse", Presence())
        let room = Room(try JID("chamber@conference.example.net"), nickname: "romeo", hub: EventHub())
        let events: [XMPPEvent] = [
            .message(message), .messageBounced(message, StanzaError(.badRequest, kind: .modify)), .presence(presence),
            .carbon(MessageCarbon(.received, message)), .subscriptionRequest(presence),
            .receipt(messageID: text, from: juliet),
            .displayed(messageID: text, from: juliet), .invitation(RoomInvitation(juliet, reason: text)),
            .roster(.received([item], version: nil)), .roster(.changed(.updated(item), version: nil)),
            .room(room, .left(departure)), .room(room, .occupantLeft(occupant, departure)),
        ]
        for event in events { #expect((5_000...6_500).contains(event.storedBytes), "\(event.storedBytes)") }
        #expect(XMPPEvent.connected.storedBytes == 0)
        #expect(XMPPEvent.blockList(.blocked([juliet, juliet])).storedBytes > 0)
    }
}
