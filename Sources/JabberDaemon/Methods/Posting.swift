// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import SocketIO
internal import XMPP
internal import XMPPStorage

/// Messages that go through the outbox of a session that is held open: they are on the disk before they are sent, and go out
/// when the session is connected, in order and once.
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
        var places: [Result<(id: String, to: JID), ControlError>] = []
        for recipient in order.recipients {
            do throws(ControlError) {
                places.append(.success(try await post(to: try recipient.jid.get())))
            } catch {
                places.append(.failure(error))
            }
        }
        await session.sendWaiting()
        let kept = places.compactMap { try? $0.get() }
        if order.level != .none, !kept.isEmpty { await wait(for: kept) }
        var results: [JSONObject] = []
        for (place, recipient) in zip(places, order.recipients) {
            switch place {
            case .success(let (id, to)): results.append(await result(id, to))
            case .failure(let error):
                results.append(Delivery.result(to: recipient.text, id: order.id, state: "failed", error))
            }
        }
        return results
    }

    private func post(to jid: JID) async throws(ControlError) -> (id: String, to: JID) {
        var message = order.message(to: jid)
        let id = message.id ?? session.newStanzaID()
        message.id = id
        // What cannot be written is no message: better said now than kept.
        if let problem = SendOrder.problem(of: message) { throw problem }
        let expires = order.expiry.map {
            DateTime(millisecondsSinceEpoch: DateTime.now.millisecondsSinceEpoch + Int64($0.milliseconds))
        }
        _ = try await store.post(message, expires: expires)
        return (id, jid)
    }

    /// Waits until every message came as far as it has to, or no further.
    private func wait(for kept: [(id: String, to: JID)]) async {
        let rest = deadline.map { max(.zero, $0 - .now) } ?? Self.longestWait
        var isThere = await store.news.wait(atMost: min(rest, order.expiry ?? rest)) { await hasCome(kept) }
        if !isThere, let expiry = order.expiry, expiry < rest {
            // Looking for what waits gives up what has waited too long; what is on its way is waited for still.
            _ = try? await store.outbox.waiting(of: session.jid, limit: 1)
            isThere = await store.news.wait(atMost: rest - expiry) { await hasCome(kept) }
        }
        // A bounce that another server sends takes a little longer.
        let own = session.jid.domain
        guard isThere, order.level == .server, kept.contains(where: { $0.to.domain != own }) else { return }
        _ = await store.news.wait(atMost: SendMethod.remoteBounceWindow) {
            for (id, to) in kept where to.domain != own {
                guard let entry = await entry(id, to), entry.state != .server else { return false }
            }
            return true
        }
    }

    /// Whether every message came as far as it has to, or will come no further.
    private func hasCome(_ kept: [(id: String, to: JID)]) async -> Bool {
        for (id, to) in kept {
            guard let entry = await entry(id, to) else { continue }
            guard entry.state.isFinal || entry.state.reaches(order.level.state) else { return false }
        }
        return true
    }

    private func entry(_ id: String, _ to: JID) async -> OutboxEntry? {
        (try? await store.outbox.entry(id, to: to, of: session.jid)) ?? nil
    }

    private func result(_ id: String, _ to: JID) async -> JSONObject {
        guard let entry = await entry(id, to) else {
            return Delivery.result(
                to: to.description, id: id, state: "queued",
                ControlError(.inputOutput, "nobody can say what became of it", account: session.name))
        }
        var result = Delivery.result(
            to: to.description, id: id, state: entry.state.rawValue, await doubt(entry, to))
        result["at"] = .string(entry.changedAt.description)
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
        switch entry.state {
        case .queued:
            let reason = await session.holding?.status.reason.map { ": \($0.message)" } ?? ""
            return ControlError(
                .timedOut, "it waits to be sent, as \(session.name) is not connected\(reason)", account: session.name)
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
