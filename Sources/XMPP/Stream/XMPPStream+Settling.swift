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

    /// How long a room is waited for that does not let the user in again; as long as by ``join(_:as:password:history:unlocksNewRoom:timeout:)``.
    private static let roomTimeout: Duration = .seconds(30)

    /// Since when rooms have to tell again what was said in them, by their addresses: what was on its way there when a session was
    /// lost may be among it.
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

    /// Leaves messages to rooms that are in an outbox to it: it asks the rooms when the user is in them (``settleRooms(in:)``).
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

    /// Looks the messages up, of which nobody knows whether the server has them, in the account's own archive (XEP-0313 §4). Those
    /// that are there are settled. Without an archive, or when it does not answer, all stay unsettled.
    func settleByArchive() async {
        guard let own = jid?.bare, let oldest = unsettled.compactMap(\.sentAt).min(),
            let information = try? await discoverInformation(of: own),
            information.features.contains(ArchiveFilter.namespace)
        else { return }
        let since = DateTime(
            millisecondsSinceEpoch: oldest.millisecondsSinceEpoch - Self.assumedClockError)
        var known: Set<String> = []
        var rest = Self.maximumSearched
        do throws(XMPPError) {
            var results = archive(ArchiveFilter(since: since), pageSize: 100).makeAsyncIterator()
            while let result = try await results.next(isolation: self) {
                rest -= 1
                guard rest > 0 else { break }
                let element = result.message.element
                // What others have sent may carry any id.
                guard let from = result.message.from?.bare, from == own, let to = element["to"] else { continue }
                for id in [element["id"], result.message.originID] {
                    if let id { known.insert("\(id) \(to)") }
                }
            }
        } catch {
            log(.step, "the archive does not say what arrived: \(error)")
        }
        settled(unsettled.filter { known.contains("\($0.element["id"] ?? "") \($0.element["to"] ?? "")") })
    }
}
