// SPDX-License-Identifier: Apache-2.0

import Foundation
import JabberControl
import Testing
import XMPP
import XMPPStorage

@testable import JabberDaemon

@Suite("What arrives, on its way to the disk", .timeLimit(.minutes(5)))
struct IntakeTests {
    /// A database, and what is on its way into it.
    private struct Desk {
        let account: JID
        let folder = FileManager.default.temporaryDirectory.path + "/intake-\(UUID().uuidString.prefix(8))"
        let intake: Intake
        let database: Database
        let journal: EventJournal

        init() async throws {
            account = try JID("juliet@example.org")
            intake = Intake(account: account)
            database = try await Database(at: folder + "/store.db")
            journal = EventJournal(database)
        }

        /// A message from romeo arrives.
        @discardableResult
        func arrive(_ text: String, named name: String? = nil) throws -> Message {
            var message = Message(to: account, body: text)
            message.from = try JID("romeo@example.net/orchard")
            if let name { message.append(StanzaID(name, by: account).element) }
            #expect(intake.note(.message(message), [["type": "message", "body": .string(text)]]).isEmpty)
            intake.kept(message.element)
            return message
        }

        /// A transaction writes some messages.
        func write(_ messages: Message..., fails: Bool = false) async throws {
            intake.rewind()
            let (intake, journal, account) = (intake, journal, account)
            try? await database.write { connection throws(StorageError) in
                try intake.write(messages.map(\.element), of: account, to: journal, on: connection)
                if fails { throw StorageError(.full, file: "", "full") }
            }
            if !fails { intake.commit() }
        }

        /// The texts of the events that are on the disk.
        func texts() async throws -> [String?] {
            try await journal.events(after: 0).events.map { try JSONReader.read($0.bytes)["body"]?.stringValue }
        }

        func end() async {
            await database.close()
            try? FileManager.default.removeItem(atPath: folder)
        }
    }

    @Test("What is written with a message is there once, also when its transaction failed before")
    func failing() async throws {
        let desk = try await Desk()
        let (one, two) = (try desk.arrive("one"), try desk.arrive("two"))
        try await desk.write(one, fails: true)
        #expect(try await desk.texts() == [] && desk.intake.count == 2)
        try await desk.write(one)
        try await desk.write(two)
        #expect(try await desk.texts() == ["one", "two"] && desk.intake.count == 0)
        #expect(try await desk.journal.lastCursor == desk.intake.lastCursor)
        await desk.end()
    }

    @Test("Who asks for a subscription is written in the transaction that counts the request (RFC 6121 §3.1.3)")
    func requests() async throws {
        let desk = try await Desk()
        let requests = KeptRequests(desk.database)
        var presence = Presence(.subscribe, status: "it is me", to: desk.account)
        presence.from = try JID("romeo@example.net/orchard")
        let event = XMPPEvent.subscriptionRequest(presence)
        #expect(desk.intake.note(event, []).isEmpty)
        desk.intake.kept(presence.element)
        let message = try desk.arrive("behind")
        #expect(try await requests.requests(of: desk.account).isEmpty)
        let (intake, journal, account) = (desk.intake, desk.journal, desk.account)
        let elements = [presence.element, message.element]
        desk.intake.rewind()
        try await desk.database.write { connection throws(StorageError) in
            try intake.write(elements, of: account, to: journal, on: connection)
        }
        desk.intake.commit()
        let kept = try await requests.requests(of: desk.account)
        #expect(kept.map(\.jid.description) == ["romeo@example.net"] && kept.map(\.text) == ["it is me"])
        #expect(try await desk.texts() == ["behind"] && desk.intake.count == 0)
        await desk.end()
    }

    @Test("What is left out between two connections comes again and is passed over before")
    func leftOut() async throws {
        let desk = try await Desk()
        try desk.arrive("lost")
        let next = try desk.arrive("next")
        try await desk.write(next)
        #expect(try await desk.texts() == ["next"] && desk.intake.count == 0)
        try desk.arrive("again")
        desk.intake.connectionBegan()
        #expect(desk.intake.count == 0)
        await desk.end()
    }

    @Test("A message that is known by its name in the archive is told once (XEP-0359 §6)")
    func twice() async throws {
        let desk = try await Desk()
        for _ in 0..<2 { try await desk.write(try desk.arrive("x", named: "28482-98726")) }
        for _ in 0..<2 { try await desk.write(try desk.arrive("y")) }
        #expect(try await desk.texts() == ["x", "y", "y"])
        #expect(try await MessageArchive(desk.database).unread(of: desk.account).map(\.count) == [3])
        await desk.end()
    }

    @Test(
        "Only the addressee, or its server with a bounce, says how far a message came (RFC 6120 §8.3.1)",
        arguments: [
            ("romeo@example.net/orchard", DeliveryState.device, DeliveryState.failed),
            ("example.net", .queued, .failed), ("mallory@example.net", .queued, .queued),
            ("example.com", .queued, .queued),
        ])
    func news(_ from: String, received: DeliveryState, bounced: DeliveryState) async throws {
        let sender = try JID(from)
        for (isBounce, expected) in [(false, received), (true, bounced)] {
            let desk = try await Desk()
            let outbox = DurableOutbox(desk.database)
            let romeo = try JID("romeo@example.net")
            _ = try await outbox.add(Message(to: romeo, body: "x", id: "m"), of: desk.account, expires: nil)
            var message = Message(to: desk.account, id: "m")
            message.from = sender
            let error = StanzaError(.itemNotFound, kind: .cancel)
            _ = desk.intake.note(
                isBounce ? .messageBounced(message, error) : .receipt(messageID: "m", from: sender), [])
            desk.intake.kept(message.element)
            try await desk.write(message)
            let entry = try #require(try await outbox.entry("m", to: romeo, of: desk.account))
            #expect(entry.state == expected)
            #expect((entry.reason?.contains("item-not-found") == true) == (expected == .failed))
            await desk.end()
        }
    }

    @Test("What only tells how things stand is not kept; what comes with no message is written apart")
    func loose() throws {
        let intake = Intake(account: try JID("juliet@example.org"))
        let presence = XMPPEvent.presence(Presence())
        #expect(intake.note(presence, [["type": "presence"], ["type": "room"], ["type": "state"]]).isEmpty)
        #expect(intake.note(presence, [["type": "roster"]]).count == 1)
    }

    @Test("A cursor is digits only", arguments: ["", "-1", "1x", "+5", "99999999999999999999", "1.0"])
    func strange(_ text: String) {
        #expect(EventCursor.read(text) == nil)
    }
}
