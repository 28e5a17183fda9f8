// SPDX-License-Identifier: Apache-2.0

import SocketIO
import XMPPCore
import XMPPProtocol
import XMPPTestSupport
import XMPPXML

@testable import XMPP

/// A session of `romeo@example.net/orchard` as the tables describe it, and what became of bytes that arrived in it.
struct SessionRun {
    /// What the bytes brought.
    struct Outcome: Equatable {
        /// Messages with something to read.
        var messages: [Message] = []
        var bounced: [String] = []
        var receipts: [String] = []
        var displayed: [String] = []
        var carbons: [MessageCarbon] = []
        var invitations: [RoomInvitation] = []
        var blockListChanges: [BlockListChange] = []
        var subscriptionRequests: [JID] = []
        var rosterChanges: [RosterChange] = []
        var presences: [Presence] = []
        /// First-level elements that were sent.
        var sent: [Element] = []
        /// The open requests by name: `open`, `done`, or the condition of the error.
        var requests: [String: String] = [:]
        var isOnline = true
        /// Stanzas counted for Stream Management.
        var handled: UInt32 = 0
        /// The buddies online afterwards, with the priority of each resource.
        var buddies: [String: [String: Int8]] = [:]
        /// What came from the archive that was asked.
        var archived: [ArchiveResult] = []
    }

    let stream: XMPPStream
    let server: SessionServer
    /// The ids of the session, by the names that the tables give them.
    let ids: [String: String]
    private let events: EventLog
    private let handledBefore: UInt32

    /// Opens the session.
    init(
        contacts: [String] = ["juliet@example.com"], from base: XMPPConfiguration? = nil, isEager: Bool = false
    ) async throws {
        let events = EventLog([])
        let server = SessionServer(contacts: contacts, isEager: isEager)
        var configuration = try base ?? Self.configuration()
        configuration.connector = server
        configuration.use(SeededGenerator(seed: 3))
        configuration.use(TestClock())
        // A name of its own for each, so that each draws the same ids.
        configuration.loginMemory = InMemoryLoginMemoryStore()
        configuration.observer = StreamObserver(event: { event in events.mutex.withLock { $0.append(event) } })
        let stream = XMPPStream(configuration)
        try await stream.connect()
        try await stream.goOnline()
        let ping = Element("ping", namespace: Namespace.ping)
        var ids: [String: String] = [:]
        for (name, to) in [
            ("IQID1", "juliet@example.com/balcony"), ("IQID2", nil), ("IQID3", "upload.example.net"), ("MAMID", nil),
        ] as [(String, String?)] {
            ids[name] = try await stream.ask(IQ(.get, to: try to.map { try JID($0) }, payload: ping))
        }
        if let id = ids["MAMID"] { await stream.openArchiveQuery("q1", requestID: id) }
        ids["MSGID1"] = try await stream.send(Message(to: JID("juliet@example.com"), body: "hello")).id
        await server.settle()
        await server.forget()
        events.mutex.withLock { $0 = [] }
        self.stream = stream
        self.server = server
        self.ids = ids
        self.events = events
        handledBefore = await stream.machine.management.handled
    }

    /// A configuration to start from; its copies share the TLS context that none of them uses.
    static func configuration() throws -> XMPPConfiguration {
        var configuration = XMPPConfiguration(jid: try JID("romeo@example.net/orchard"), password: "secret")
        configuration.securityPolicy = .plaintextOnLoopback
        return configuration
    }

    /// Lets bytes arrive and says what came of them.
    func receive(_ pieces: [ArraySlice<UInt8>]) async -> Outcome {
        await server.send(pieces)
        var outcome = Outcome()
        for event in events.mutex.withLock({ $0 }) { outcome.note(event) }
        outcome.sent = await server.sent()
        for (name, id) in ids where name != "MSGID1" {
            outcome.requests[name] = await stream.outcome(of: id)
        }
        outcome.archived = await stream.archiveQueries["q1"]?.results ?? []
        outcome.isOnline = await stream.isEstablished
        outcome.handled = await stream.machine.management.handled &- handledBefore
        for buddy in await stream.buddies {
            outcome.buddies[buddy.jid.description] = Dictionary(
                buddy.resources.map { ($0.name, $0.presence.priority) }, uniquingKeysWith: { $1 })
        }
        return outcome
    }

    /// Lets text arrive in one read.
    func receive(_ xml: String) async -> Outcome {
        await receive([Array(xml.utf8)[...]])
    }

    /// Ends the session.
    func end() async {
        await server.close()
    }
}

extension SessionRun.Outcome {
    fileprivate mutating func note(_ event: XMPPEvent) {
        switch event {
        case .message(let message): if message.body != nil || message.subject != nil { messages.append(message) }
        case .messageBounced(let message, let error): bounced.append("\(message.id ?? "") \(error.condition)")
        case .receipt(let id, _): receipts.append(id)
        case .displayed(let id, _): displayed.append(id)
        case .carbon(let carbon): carbons.append(carbon)
        case .invitation(let invitation): invitations.append(invitation)
        case .blockList(let change): blockListChanges.append(change)
        case .subscriptionRequest(let presence): if let from = presence.from { subscriptionRequests.append(from) }
        case .roster(.changed(let change, _)): rosterChanges.append(change)
        case .presence(let presence): presences.append(presence)
        case .oversized, .room, .roster(.received), .roster(.unchanged), .connected, .serverKeyChanged, .authenticated,
            .buddyCameOnline, .buddyChanged, .buddyWentOffline, .interrupted, .resumed, .notResumed, .disconnected:
            break
        }
    }
}

/// The events of a stream, for closures to share.
private final class EventLog: Sendable {
    let mutex: Locked<[XMPPEvent]>

    init(_ events: [XMPPEvent]) { mutex = Locked(events) }
}

extension XMPPStream {
    /// Asks the own archive, under the name that the tables give the question.
    fileprivate func openArchiveQuery(_ name: String, requestID: String) {
        archiveQueries[name] = ArchiveCollector(archive: nil, requestID: requestID, maximum: 50)
    }

    /// What became of a request that nobody waits for.
    fileprivate func outcome(of id: String) -> String {
        if requests.isOpen(id: id) { return "open" }
        return switch earlyAnswers[id] {
        case .success: "done"
        case .failure(let error): error.stanzaError?.condition.rawValue ?? error.code.rawValue
        case nil: "lost"
        }
    }
}
