// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPPCore
internal import XMPPProtocol
internal import XMPPXML

extension XMPPStream {
    /// By how much the clocks of this machine and the server may differ when a message is looked for; 1 hour.
    static let assumedClockError: Int64 = 3_600_000

    /// How many messages of an archive are looked at for those that are unsettled; 5,000.
    private static let maximumSearched = 5_000

    /// For how long after the loss of a connection the server may be at work on what came over it; 10 s.
    static let maximumServerLag: Duration = .seconds(10)

    /// How long an archive is given to grow before it is looked at again; 100 ms.
    private static let pauseBetweenLooks: Duration = .milliseconds(100)

    /// After how many looks at an archive that bring nothing new it is believed to be complete; 3.
    private static let sufficientQuietLooks = 3

    /// How long a room is waited for that does not let the user in again; as long as by
    /// ``join(_:as:password:history:unlocksNewRoom:timeout:)``.
    private static let roomTimeout: Duration = .seconds(30)

    /// Since when rooms have to tell again what was said in them, by their addresses: what was on its way there when a
    /// session was lost may be among it.
    var unsettledRooms: [JID: DateTime] {
        var rooms: [JID: DateTime] = [:]
        for pending in unsettled where pending.element["type"] == Message.Kind.groupchat.rawValue {
            guard let to = pending.element["to"].flatMap({ try? JID($0) }) else { continue }
            let sentAt = pending.sentAt ?? .now
            rooms[to.bare] = min(rooms[to.bare] ?? sentAt, sentAt)
        }
        return rooms
    }

    /// Waits until the rooms that unsettled messages went to have let the user in, and have told what was said in them.
    func awaitUnsettledRooms() async {
        for jid in unsettledRooms.keys.sorted() {
            guard let room = rooms[jid], room.isEntered(on: self) else { continue }
            if !room.isJoined {
                let timer = configuration.clock.schedule(after: Self.roomTimeout, on: executor) { [weak self] in
                    self?.assumeIsolated { $0.endWaiting { $0 == .entry(jid) } }
                }
                _ = await wait(for: .entry(jid))
                timer.cancel()
            }
            // A room does one thing after another: its past comes before its answer, be that a refusal.
            guard room.isJoined, let own = try? room.address(of: room.nickname) else { continue }
            _ = try? await ping(own, timeout: Self.roomTimeout)
        }
    }

    /// What a room has sent back was said there, whether or not the server has acknowledged it (XEP-0045 §7.4).
    func settleByRooms() {
        let arrived = unsettled.filter { pending in
            guard pending.element["type"] == Message.Kind.groupchat.rawValue, let id = pending.element["id"],
                let to = pending.element["to"].flatMap({ try? JID($0) })
            else { return false }
            return rooms[to]?.hasSentBack(id) == true
        }
        settled(arrived)
    }

    /// Leaves messages to rooms that are in an outbox to it: it asks the rooms when the user is in them
    /// (``settleRooms(in:)``).
    func handBackRoomMessages(to outbox: any Outbox) async throws(XMPPError) {
        var handedBack: [UnacknowledgedStanza] = []
        for pending in unsettled where pending.element["type"] == Message.Kind.groupchat.rawValue {
            guard let id = pending.element["id"], let to = pending.element["to"].flatMap({ try? JID($0) }) else {
                continue
            }
            let (account, isCertain) = (account, isSettlingCertain)
            let isKnown = try await ask(outbox) { outbox in
                guard try await outbox.entry(id, to: to, of: account) != nil else { return false }
                // The server has said that it has not got it.
                if isCertain { try await outbox.resolve(id, to: to, of: account, isAtServer: false) }
                return true
            }
            if isKnown { handedBack.append(pending) }
        }
        guard !handedBack.isEmpty else { return }
        unsettled.removeAll(where: handedBack.contains)
        keep(.step(.handedBack(handedBack)))
    }

    private func settled(_ arrived: [UnacknowledgedStanza]) {
        guard !arrived.isEmpty else { return }
        unsettled.removeAll(where: arrived.contains)
        keep(.step(.settled(arrived)))
    }

    /// Looks messages up as long as the connection lasts: what comes after it looks anew.
    func settleWhileConnected() async {
        let task = Task { await settleByArchive() }
        settling = task
        await task.value
        settling = nil
    }

    /// Looks the messages up, of which nobody knows whether the server has them, in the account's own archive (XEP-0313
    /// §4). Those that are there are settled. Without an archive, or when it does not answer, all stay unsettled.
    ///
    /// While the server may still be at work on what came over the connection before, the archive is looked at again
    /// until nothing has come for a while: a message that is on its way there would be taken for missing, and arrive
    /// twice.
    private func settleByArchive() async {
        guard let own = jid?.bare, let oldest = unsettled.compactMap(\.sentAt).min(),
            let information = try? await discoverInformation(of: own),
            information.features.contains(ArchiveFilter.namespace)
        else { return }
        let since = DateTime(
            millisecondsSinceEpoch: oldest.millisecondsSinceEpoch - Self.assumedClockError)
        var look = ArchiveLook(filter: ArchiveFilter(with: soleAddressee, since: since), rest: Self.maximumSearched)
        var quietLooks = 0
        do throws(XMPPError) {
            while true {
                let known = unsettled.count
                try await settle(by: &look, of: own)
                quietLooks = unsettled.count < known ? 0 : quietLooks + 1
                guard mayBeUnderWay, quietLooks < Self.sufficientQuietLooks, look.rest > 0,
                    unsettled.contains(where: { $0.element.firstChild("body", namespace: Namespace.client) != nil })
                else { return }
                try await pauseBetweenLooks()
            }
        } catch {
            log(.step, "the archive does not say what arrived: \(error)")
        }
    }

    /// Looks at what is in the archive and has not been looked at yet.
    private func settle(by look: inout ArchiveLook, of own: JID) async throws(XMPPError) {
        var known: Set<String> = []
        var results = archive(look.filter, after: look.last, pageSize: 100).makeAsyncIterator()
        while look.rest > 0, let result = try await results.next(isolation: self) {
            look.rest -= 1
            look.last = result.id
            let element = result.message.element
            // What others have sent may carry any id.
            guard let from = result.message.from?.bare, from == own, let to = element["to"] else { continue }
            for id in [element["id"], result.message.originID] {
                if let id { known.insert("\(id) \(to)") }
            }
        }
        settled(unsettled.filter { known.contains("\($0.element["id"] ?? "") \($0.element["to"] ?? "")") })
    }

    /// To whom all of them went; `nil` where that is not one.
    private var soleAddressee: JID? {
        let addressees = Set(unsettled.map { $0.element["to"].flatMap { try? JID($0) }?.bare })
        return addressees.count == 1 ? addressees.first ?? nil : nil
    }

    private func pauseBetweenLooks() async throws(XMPPError) {
        let timer = configuration.clock.schedule(after: Self.pauseBetweenLooks, on: executor) { [weak self] in
            self?.assumeIsolated { $0.endWaiting { $0 == .quiet } }
        }
        defer { timer.cancel() }
        try await wait(for: .quiet).get()
    }

    // MARK: What is in doubt

    /// Notes when the connection was lost, and whether messages were on their way.
    func noteLoss() {
        settling?.cancel()
        let lost = resumableState?.unacknowledged ?? []
        loss = ConnectionLoss(
            at: configuration.clock.now, hasMessages: lost.contains { $0.element.localName == "message" })
    }

    /// Whether the server may not have dealt yet with all that came over the connection before this one.
    ///
    /// - Parameter withMessages: Whether that is asked for the sake of messages that were on their way.
    func isLossRecent(withMessages: Bool = false) -> Bool {
        guard let loss else { return true }
        return (loss.hasMessages || !withMessages) && configuration.clock.now - loss.at < Self.maximumServerLag
    }

    /// The server goes on with the session, and says how far it was. It may have counted too early: ejabberd lets the
    /// process that had the connection before deal with what it has read, while the session goes on in another one from
    /// an earlier count. So messages are looked for before they are sent again (XEP-0198 §5 has them sent at once).
    func doubtUnhandled() {
        unsettled += machine.unsettled
        machine.unsettled = []
        isSettlingCertain = false
        mayBeUnderWay = true
        isInDoubt = true
        doubts += 1
        // They are counted anew.
        endWaiting { awaited in
            if case .handled = awaited { true } else { false }
        }
        if keeping != nil, let state = resumableState { keep(.step(.began(state))) }
    }
}

/// The loss of a connection.
struct ConnectionLoss: Sendable {
    /// When it was noticed, by the stream's clock.
    let at: Duration
    /// Whether messages were on their way.
    let hasMessages: Bool
}

/// How far an archive was looked at.
private struct ArchiveLook {
    let filter: ArchiveFilter
    /// The last message that was looked at.
    var last: String?
    /// How many more are looked at.
    var rest: Int
}
