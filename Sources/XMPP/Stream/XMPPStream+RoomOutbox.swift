// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPProtocol

/// What a room can say of a message that was on its way there.
enum RoomAnswer: Sendable, Hashable {
    /// It was said there.
    case said
    /// It was not: it may be said again.
    case notSaid
    /// The room does not tell enough of its past.
    case unknown
}

/// Messages of an outbox to rooms: they go when the user is in the room, and have arrived when the room sends them
/// back. What was on its way when the user was in the room last is never said again before the room was asked.
extension XMPPStream {
    /// How many messages of a room's archive are looked at for those that are in doubt; 5,000.
    private static let maximumAsked = 5_000

    /// Lets the rooms that are entered again (``rejoinRooms()``) tell so much of their past that it shows what became
    /// of the messages of an outbox.
    package func heedRooms(of outbox: any Outbox) async throws(XMPPError) {
        let account = configuration.jid.bare
        let entries = try await ask(outbox) { try await $0.unreflected(of: account) }
        doubtfulRooms = Dictionary(
            entries.compactMap { entry in entry.message.to.map { ($0, entry.queuedAt) } }, uniquingKeysWith: min)
    }

    /// Whether a message can be sent: one to a room can while the user is there.
    ///
    /// - Parameter stays: The rooms of which it is known what became of earlier messages, and the stays in which it is.
    func isOpen(_ entry: OutboxEntry, _ stays: [JID: Int]) -> Bool {
        guard entry.isForRoom, let to = entry.message.to else { return true }
        // One that was entered only now is asked first: whoever is told of the entry sends anew.
        guard let room = rooms[to], let stay = stays[to] else { return false }
        return room.isJoined && room.isEntered(on: self) && room.stay == stay && room.takesMore
    }

    /// A message to a room is about to be written. From now on the room is asked before it is written again.
    func aboutToSay(_ entry: OutboxEntry, in outbox: any Outbox) async throws(XMPPError) {
        // The transaction that keeps it for resumption notes it too.
        if !keepsSent { try await note(.sent, entry, in: outbox) }
        guard let id = entry.message.id, let to = entry.message.to else { return }
        rooms[to]?.update { $0.accounts(for: id) }
    }

    /// A message was not written after all: it waits again.
    ///
    /// - Throws: Always: ``XMPPError/Code/notConnected``, or what the outbox fails with.
    func unsay(_ entry: OutboxEntry, in outbox: any Outbox) async throws(XMPPError) -> Never {
        let account = configuration.jid.bare
        let (id, to) = (entry.message.id ?? "", entry.message.to ?? account)
        try await ask(outbox) { try await $0.resolve(id, to: to, of: account, isAtServer: false) }
        throw disconnection ?? .notConnected
    }

    /// Finds out what became of messages that an earlier stay in a room has left: those that the room has are done,
    /// those that it has not are sent again, and of others nobody can say.
    ///
    /// - Returns: The rooms in which that is known, and the stays of which it is.
    func settleRooms(in outbox: any Outbox) async throws(XMPPError) -> [JID: Int] {
        let account = configuration.jid.bare
        // Before the outbox is asked: a message of an earlier stay is in it by then.
        let stays = Dictionary(joinedRooms.map { ($0.jid, $0.stay) }) { $1 }
        guard !stays.isEmpty else { return [:] }
        let entries = try await ask(outbox) { try await $0.unreflected(of: account) }
        for (jid, entries) in Dictionary(grouping: entries, by: { $0.message.to ?? account }) {
            guard let room = rooms[jid], stays[jid] == room.stay else { continue }
            let doubtful = entries.filter { entry in entry.message.id.map { !room.isAccountedFor($0) } ?? false }
            guard !doubtful.isEmpty else { continue }
            let answers = await answers(of: room, about: doubtful)
            // Who had to leave meanwhile asks again the next time.
            guard room.isJoined, room.isEntered(on: self), stays[jid] == room.stay else { continue }
            for entry in doubtful {
                guard let id = entry.message.id else { continue }
                let isThere: Bool? =
                    switch answers[id] ?? .unknown {
                    case .said: true
                    case .notSaid: false
                    case .unknown: nil
                    }
                try await ask(outbox) { try await $0.resolve(id, to: jid, of: account, isAtServer: isThere) }
                if isThere == nil { room.update { $0.accounts(for: id) } }
            }
        }
        return stays
    }

    /// Asks a room what became of messages: what it has told of its past says so, or else its archive (XEP-0313 §6.2).
    private func answers(of room: Room, about entries: [OutboxEntry]) async -> [String: RoomAnswer] {
        // A room does one thing after another: its past comes before this answer.
        if let own = try? room.address(of: room.nickname) { _ = try? await ping(own) }
        var answers: [String: RoomAnswer] = [:]
        for entry in entries {
            guard let id = entry.message.id else { continue }
            answers[id] = room.hasSentBack(id) ? .said : .unknown
        }
        let open = entries.filter { entry in entry.message.id.map { answers[$0] == .unknown } ?? false }
        guard let oldest = open.map(\.queuedAt).min() else { return answers }
        let known = await said(in: room, since: oldest)
        for entry in open {
            guard let id = entry.message.id else { continue }
            if known?.contains(id) == true {
                answers[id] = .said
            } else if known != nil || room.reachesBack, entry.message.body != nil {
                // What has no text is left out of many archives.
                answers[id] = .notSaid
            }
        }
        return answers
    }

    /// The ids of the user's own messages in the archive of a room; `nil` where it does not tell all of them.
    private func said(in room: Room, since moment: DateTime) async -> Set<String>? {
        guard let information = try? await discoverInformation(of: room.jid),
            information.features.contains(ArchiveFilter.namespace)
        else { return nil }
        let start = DateTime(millisecondsSinceEpoch: moment.millisecondsSinceEpoch - Self.assumedClockError)
        var ids: Set<String> = []
        var rest = Self.maximumAsked
        do throws(XMPPError) {
            var results = archive(ArchiveFilter(since: start), of: room.jid, pageSize: 100).makeAsyncIterator()
            while let result = try await results.next(isolation: self) {
                rest -= 1
                guard rest > 0 else { return nil }
                let message = result.message
                guard let from = message.from, from.bare == room.jid, room.isUser(from, message.occupantID) else {
                    continue
                }
                for id in [message.id, message.originID] { if let id { ids.insert(id) } }
            }
            return ids
        } catch {
            log(.step, "the archive of \(room.jid) does not say what was said: \(error)")
            return nil
        }
    }
}
