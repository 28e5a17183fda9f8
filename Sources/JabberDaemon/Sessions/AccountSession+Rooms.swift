// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP
internal import XMPPStorage

/// The rooms that an account is in only for what waits to be said there.
struct RoomVisits: Sendable {
    /// Which they are.
    var rooms: Set<JID> = []
    /// Those of them that are about to be left.
    var leaving: Set<JID> = []
    /// Those that are being left.
    var departures: [JID: Task<Void, Never>] = [:]
    /// How many messages are about to be kept for a room.
    var announced: [JID: Int] = [:]
}

/// The rooms of a session that is held open: they are entered again after a restart, and where something waits to be
/// said in one that the account is not in, it comes in for that.
extension AccountSession {
    /// How long a room is waited for that has sent back what was said, before it is left.
    private static let visitWindow: Duration = .seconds(10)

    /// Notes the rooms that the account was in when the daemon ran last; they are entered with the next session.
    func restoreRooms(from store: AccountStore) async {
        do {
            let doubtful = Set(try await store.outbox.unreflected(of: jid).compactMap(\.message.to))
            for room in try await store.rooms.rooms(of: jid) {
                if room.isVisit {
                    guard try await store.outbox.open(to: room.jid, of: jid) > 0 || doubtful.contains(room.jid) else {
                        try await store.rooms.remove(room.jid, of: jid)
                        continue
                    }
                    visits.rooms.insert(room.jid)
                }
                rooms.want(room.jid, as: room.nickname, password: room.password)
            }
        } catch {
            say("which rooms it was in cannot be read: \(error)")
        }
    }

    /// The account is about to enter a room to stay: whoever came in only to say something no longer leaves, or has
    /// left.
    func willStay(in room: JID) async {
        visits.rooms.remove(room)
        await visits.departures[room]?.value
    }

    /// The account stays in a room until it leaves.
    func stays(in room: Room, password: String?) async throws(ControlError) {
        visits.rooms.remove(room.jid)
        try await keepRooms { (store) throws(StorageError) in
            try await store.save(KeptRoom(jid: room.jid, nickname: room.nickname, password: password), of: self.jid)
        }
    }

    /// The account has another nickname in a room.
    func isCalled(_ nickname: String, in room: JID) async throws(ControlError) {
        try await keepRooms { (store) throws(StorageError) in try await store.rename(nickname, in: room, of: self.jid) }
    }

    /// The account does not come back into a room.
    func forgets(_ room: JID) async throws(ControlError) {
        visits.rooms.remove(room)
        rooms.forget(room)
        try await keepRooms { (store) throws(StorageError) in try await store.remove(room, of: self.jid) }
    }

    private func keepRooms(
        _ change: (KeptRooms) async throws(StorageError) -> Void
    ) async throws(ControlError) {
        guard let store else { return }
        do throws(StorageError) {
            try await change(store.rooms)
        } catch {
            throw ControlError(error, account: name)
        }
    }

    /// Whether an address is that of a room that the account is in, or comes back to.
    func knowsRoom(_ jid: JID) -> Bool {
        jid.isBare && jid.localpart != nil && rooms.isWanted(jid)
    }

    /// Sees to it that the account is in a room, or comes in when it can: something waits to be said there.
    ///
    /// - Parameter limit: How long the room is waited for.
    /// - Throws: `ControlError` when the room lets nobody in who is called so, or the store fails.
    func visit(_ room: JID, as nickname: String?, atMost limit: Duration) async throws(ControlError) {
        await visits.departures[room]?.value
        if !rooms.isEnteredAgain(room) {
            let name = nickname ?? jid.localpart ?? "guest"
            try await keepRooms { (store) throws(StorageError) in
                try await store.save(KeptRoom(jid: room, nickname: name, isVisit: true), of: self.jid)
            }
            visits.rooms.insert(room)
            rooms.want(room, as: name)
        }
        guard holding?.status.phase == .connected, let stream, await stream.isEstablished,
            await !stream.joinedRooms.contains(where: { $0.jid == room })
        else { return }
        let wanted = rooms.nickname(in: room) ?? nickname
        do throws(XMPPError) {
            try await stream.join(room, as: wanted, history: .none, timeout: limit)
        } catch {
            guard let refusal = error.stanzaError, refusal.isFinal else {
                rooms.want(room, as: wanted ?? "guest")
                return
            }
            try? await forgets(room)
            throw ControlError(error, account: name)
        }
    }

    /// Takes in what concerns the account in a room; on the stream's executor.
    nonisolated func takeRoom(_ event: XMPPEvent) {
        guard case .room(let room, let news) = event else { return }
        switch news {
        case .joined:
            Task { await entered(room) }
        case .refused(let error):
            Task { await wasRefused(by: room, error) }
        case .left(let departure) where departure.isFinal:
            Task { await hasLeft(room, departure) }
        case .message(let line) where line.isOwn:
            Task { await endVisit(to: room) }
        case .left, .message, .occupantJoined, .occupantChanged, .occupantLeft, .nicknameChanged, .subject,
            .configurationChanged:
            break
        }
    }

    private func entered(_ room: Room) async {
        guard holding?.status.phase == .connected else { return }
        sendWaiting()
        await sender?.value
        await endVisit(to: room)
    }

    /// Does something that ends in a message to a room: nobody leaves the room meanwhile for having nothing to say
    /// there.
    func announcing<Outcome: Sendable>(
        _ room: JID, _ work: () async throws(ControlError) -> Outcome
    ) async throws(ControlError) -> Outcome {
        visits.announced[room, default: 0] += 1
        defer { visits.announced[room] = visits.announced[room].flatMap { $0 > 1 ? $0 - 1 : nil } }
        return try await work()
    }

    /// Leaves the rooms that the account was in only to say something, when that is done.
    func endVisits() async {
        await sender?.value
        guard !visits.rooms.isEmpty, let stream else { return }
        for room in await stream.joinedRooms where visits.rooms.contains(room.jid) { await endVisit(to: room) }
    }

    /// Leaves a room that the account was in only to say something, when the room has sent that back.
    private func endVisit(to room: Room) async {
        guard visits.rooms.contains(room.jid), visits.announced[room.jid] == nil, let store,
            !visits.leaving.contains(room.jid)
        else {
            return
        }
        visits.leaving.insert(room.jid)
        defer { visits.leaving.remove(room.jid) }
        let (jid, outbox) = (jid, store.outbox)
        let isDone = await store.news.wait(atMost: Self.visitWindow) {
            (try? await outbox.open(to: room.jid, of: jid)) == 0
        }
        guard isDone, visits.announced[room.jid] == nil, visits.rooms.contains(room.jid) else { return }
        let departure = Task {
            try? await forgets(room.jid)
            try? await room.leave()
        }
        visits.departures[room.jid] = departure
        await departure.value
        visits.departures[room.jid] = nil
    }

    /// A room does not let the account in. What waits for it has failed, unless the same may succeed later.
    private func wasRefused(by room: Room, _ error: StanzaError) async {
        guard error.isFinal else {
            rooms.want(room.jid, as: room.nickname)
            return
        }
        try? await forgets(room.jid)
        await fail(
            in: room.jid,
            ControlError(.refused, "\(room.jid) does not let you in: \(error)", stanza: ControlError.stanza(error)))
    }

    /// The account is in a room no more. What it was about to say there was not said: that would have come back before.
    private func hasLeft(_ room: Room, _ departure: RoomDeparture) async {
        // One that has come in again meanwhile has not.
        guard !room.isJoined else { return }
        await stream?.settle(atMost: Self.visitWindow)
        if departure.cause != .left { await fail(in: room.jid, RoomDelivery.outside(room, departure, self)) }
        guard !rooms.isWanted(room.jid) else { return }
        try? await forgets(room.jid)
    }

    private func fail(in room: JID, _ reason: ControlError) async {
        guard let store else { return }
        do {
            try await store.outbox.fail(inRoom: room, of: jid, because: JSONValue.object(reason.json).text)
            store.news.raise()
        } catch {
            say("what waits for \(room) cannot be given up: \(error.message)")
        }
    }
}

extension StanzaError {
    /// Whether asking again is of no use until somebody changes something (RFC 6120 §8.3.2).
    fileprivate var isFinal: Bool {
        switch kind {
        case .auth, .modify: true
        case .wait: false
        case .cancel, .continue:
            ![.remoteServerNotFound, .remoteServerTimeout, .serviceUnavailable, .internalServerError].contains(
                condition)
        }
    }
}
