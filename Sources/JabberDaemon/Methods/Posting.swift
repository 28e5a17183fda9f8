// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import SocketIO
internal import XMPP
internal import XMPPStorage

/// Messages that go through the outbox of a session that is held open: they are on the disk before they are sent, and
/// go out when the session is connected, in order and once.
struct Posting: Sendable {
    /// How long is waited where the caller sets no limit.
    static let longestWait: Duration = .seconds(30)

    let order: SendOrder
    let session: AccountSession
    let store: AccountStore
    let deadline: SystemMoment?

    /// Puts the messages into the outbox, and waits until each came as far as it has to.
    ///
    /// - Returns: How far each came, in the recipients' order.
    func run() async -> [JSONObject] {
        var places: [Result<OutboxEntry, ControlError>] = []
        for recipient in order.recipients {
            do throws(ControlError) {
                places.append(.success(try await post(to: try recipient.jid.get())))
            } catch {
                places.append(.failure(error))
            }
        }
        await session.sendWaiting()
        let kept = places.compactMap { try? $0.get() }
        if order.level != .none { await wait(for: kept) }
        // What has come back or was refused needs nobody to be in the room any more; nobody waits for the door.
        if kept.contains(where: \.isForRoom) { Task { await session.endVisits() } }
        var results: [JSONObject] = []
        for (place, recipient) in zip(places, order.recipients) {
            switch place {
            case .success(let entry): results.append(await result(entry))
            case .failure(let error):
                results.append(Delivery.result(to: recipient.text, id: order.id, state: "failed", error))
            }
        }
        return results
    }

    private func post(to jid: JID) async throws(ControlError) -> OutboxEntry {
        var message = order.message(to: jid)
        let isRoom = try order.isToRoom(jid, await session.knowsRoom(jid))
        if isRoom { message.kind = .groupchat }
        message.name(session.newStanzaID())
        // What cannot be written is no message: better said now than kept.
        if let problem = SendOrder.problem(of: message) { throw problem }
        let expires = order.expiry.map {
            DateTime(millisecondsSinceEpoch: DateTime.now.millisecondsSinceEpoch + Int64($0.milliseconds))
        }
        guard isRoom else { return try await store.post(message, expires: expires) }
        return try await session.announcing(jid) { [message] () throws(ControlError) in
            try await session.visit(jid, as: order.nickname, atMost: max(.seconds(1), rest))
            return try await store.post(message, expires: expires)
        }
    }

    /// How long may be waited still.
    private var rest: Duration { deadline.map { max(.zero, $0 - .now) } ?? Self.longestWait }

    /// Waits until every message came as far as it has to, or no further.
    private func wait(for kept: [OutboxEntry]) async {
        let end = SystemMoment.now + rest
        var isThere = true
        for entry in kept {
            let known = try? await watch.waitUntil(order.level.state, of: entry, timeout: max(.zero, end - .now))
            if known == nil { isThere = false }
        }
        // A bounce that another server sends takes a little longer.
        let own = session.jid.domain
        guard isThere, order.level == .server else { return }
        let bounceEnd = SystemMoment.now + SendMethod.remoteBounceWindow
        for entry in kept where entry.message.to.map({ $0.domain != own }) ?? false && !entry.isForRoom {
            _ = try? await watch.wait(for: entry, timeout: max(.zero, bounceEnd - .now)) { $0.state != .server }
        }
    }

    private var watch: OutboxWatch { OutboxWatch(store.outbox, of: session.jid, clock: SystemClock()) }

    private func result(_ posted: OutboxEntry) async -> JSONObject {
        let (to, id) = (posted.message.to ?? session.jid, posted.message.id ?? "")
        guard let entry = try? await watch.present(posted) else {
            // It is kept; a daemon that ends just now cannot say more.
            var error = ControlError(
                .inputOutput, "it is kept, but how far it has come is not known: ask again with the same id",
                account: session.name)
            error.retry = true
            return Delivery.result(to: to.description, id: id, state: "queued", error)
        }
        var result = Delivery.result(
            to: to.description, id: id, state: entry.state.rawValue, await doubt(entry, to))
        result["at"] = .string(entry.changedAt.description)
        if entry.isForRoom, let name = try? await store.archive.name(ofOrigin: id, to: to, of: session.jid) {
            result["stanzaId"] = ["by": .string(name.by.description), "id": .string(name.id)]
        }
        return result
    }

    /// Why a message came no further than it has to.
    private func doubt(_ entry: OutboxEntry, _ to: JID) async -> ControlError? {
        switch entry.state {
        case .failed:
            if let reason = entry.reason, let object = try? JSONReader.read(reason.utf8).objectValue {
                var error = ControlError(json: object)
                error.message = "\(to) did not get it: \(error.message)"
                error.account = session.name
                return error
            }
            return ControlError(.badData, entry.reason ?? "it could not be sent", account: session.name)
        case .expired:
            return ControlError(.timedOut, "its time ran out before it could be sent", account: session.name)
        case .queued, .sent, .server, .device, .read:
            guard order.level != .none, !entry.state.reaches(order.level.state) else { return nil }
        }
        let status = await session.holding?.status
        switch entry.state {
        case .queued where entry.isForRoom && status?.phase == .connected:
            return ControlError(.timedOut, "it waits to be said until you are in \(to)", account: session.name)
        case .queued:
            let reason = status?.reason.map { ": \($0.message)" } ?? ""
            return ControlError(
                .timedOut, "it waits to be sent, as \(session.name) is not connected\(reason)", account: session.name)
        case .sent where entry.isForRoom && entry.isUncertain:
            return ControlError(
                .timedOut,
                "nobody can say whether \(to) has it: the connection was lost before it was sent back, and the room does not tell "
                    + "enough of its past", account: session.name)
        case .sent where entry.isForRoom:
            return ControlError(
                .timedOut, "\(to) did not send it back in time; it is said again if the room turns out to lack it",
                account: session.name)
        case .sent:
            return ControlError(
                .timedOut, "the server did not say in time that it has it; it is sent again if need be",
                account: session.name)
        case .server, .device, .read, .failed, .expired:
            return ControlError(
                .timedOut, "\(to) did not say in time that it was \(order.level == .read ? "read" : "received")",
                account: session.name)
        }
    }
}

extension SendOrder.Level {
    /// The state that a message has then.
    var state: DeliveryState {
        switch self {
        case .none: .queued
        case .server: .server
        case .device: .device
        case .read: .read
        }
    }
}

extension SendOrder {
    /// Why a message cannot be sent by anybody; `nil` where it can.
    static func problem(of message: Message) -> ControlError? {
        do {
            _ = try XMLSerializer.serialize(message.element, defaultNamespace: Namespace.client, isInStream: true)
            return nil
        } catch {
            return ControlError(XMPPError(.invalidStanza, "The stanza cannot be sent: \(error)."))
        }
    }
}

extension AccountSession {
    /// A new id for a stanza, which nobody can guess.
    nonisolated func newStanzaID() -> String { settings.configuration.newStanzaID() }

    /// Sends messages through the outbox.
    ///
    /// - Returns: How far each came, in the recipients' order.
    /// - Throws: `ControlError` when the session will not be connected, so that nothing was kept.
    func post(_ order: SendOrder, until deadline: SystemMoment?) async throws(ControlError) -> [JSONObject] {
        if let phase = holding?.status.phase, phase == .failed || phase == .disconnected { _ = try await heldStream() }
        let store = try await openStore()
        // Nothing is to be done for somebody who has been told that the time was up.
        guard !Task.isCancelled else { throw ControlError(.cancelled, "the request was cancelled", account: name) }
        return await Posting(order: order, session: self, store: store, deadline: deadline).run()
    }
}
