// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import SocketIO
internal import XMPP

/// Messages on their way: sent one behind the other, then one round trip for all of them.
final class Delivery: Sendable {
    private struct State {
        var recipients: [JID] = []
        var sent: [Int: Message] = [:]
        var failures: [Int: ControlError] = [:]
        /// To whom the messages go, by their ids. What else comes back is none of this delivery's, and not kept.
        var addressees: [String: Set<JID>] = [:]
        /// What came back, by id and recipient.
        var bounces: [Mark: StanzaError] = [:]
        /// How far the messages came beyond the server, by id and recipient.
        var marks: [Mark: SendOrder.Level] = [:]
        var task: Task<[JSONObject], Never>?
    }

    private struct Mark: Hashable {
        let id: String
        let from: JID
    }

    private let order: SendOrder
    private let session: AccountSession
    private let stream: XMPPStream
    private let deadline: SystemMoment?
    private let state = Locked(State())

    init(order: SendOrder, session: AccountSession, stream: XMPPStream, deadline: SystemMoment?) {
        self.order = order
        self.session = session
        self.stream = stream
        self.deadline = deadline
    }

    /// Adds a recipient.
    ///
    /// - Returns: Its place in the results.
    func add(_ jid: JID) -> Int {
        state.withLock { state in
            state.recipients.append(jid)
            return state.recipients.count - 1
        }
    }

    /// Begins to send.
    func begin() {
        let task = Task { await run() }
        state.withLock { $0.task = task }
    }

    /// How far a message came.
    func result(_ place: Int) async -> JSONObject {
        let results = await state.withLock { $0.task }?.value ?? []
        return results.indices.contains(place) ? results[place] : [:]
    }

    /// The recipients that nothing was sent to: sending may be tried again.
    var unsent: [JID] {
        state.withLock { state in
            state.recipients.enumerated().filter { state.sent[$0.offset] == nil }.map(\.element)
        }
    }

    /// The result for what is no address.
    func refused(_ text: String, _ jid: Result<JID, ControlError>) -> JSONObject {
        guard case .failure(let error) = jid else { return [:] }
        return Self.result(to: text, id: nil, state: "failed", error)
    }

    private func run() async -> [JSONObject] {
        let recipients = state.withLock { $0.recipients }
        // Before the first message leaves: its bounce may be back before the last one has left.
        let subscription = session.feed.subscribe { [self] event in note(event) }
        defer { session.feed.cancel(subscription) }
        for (place, jid) in recipients.enumerated() { await send(place, to: jid) }
        var doubt: ControlError?
        if order.level != .none, state.withLock({ !$0.sent.isEmpty }) { doubt = await waitForServer(recipients) }
        if doubt == nil, order.level == .device || order.level == .read { await waitForMarks(recipients) }
        return recipients.enumerated().map { result($0.offset, $0.element, doubt) }
    }

    private func send(_ place: Int, to jid: JID) async {
        var message = order.message(to: jid)
        let id = message.id ?? stream.newStanzaID()
        message.id = id
        // Before it is written: its bounce or receipt may be here before this task goes on.
        state.withLock { _ = $0.addressees[id, default: []].insert(jid.bare) }
        do throws(ControlError) {
            let sent = try await session.step { [message] () throws(XMPPError) in try await stream.send(message) }
            state.withLock { $0.sent[place] = sent }
        } catch {
            state.withLock { $0.failures[place] = error }
        }
    }

    /// A round trip: the server handles stanzas in order, so it has handled the messages, and a bounce of its own has
    /// come before. Other servers get a little longer.
    ///
    /// - Returns: Why it is not known whether the server has the messages.
    private func waitForServer(_ recipients: [JID]) async -> ControlError? {
        do throws(ControlError) {
            _ = try await session.step { () throws(XMPPError) in
                try await stream.ping(timeout: deadline.map { max(.milliseconds(1), $0 - .now) } ?? .seconds(30))
            }
        } catch {
            return error
        }
        let own = session.jid.domain
        let remote = recipients.indices.filter { recipients[$0].domain != own }
        guard !remote.isEmpty else { return nil }
        _ = await session.feed.wait(atMost: SendMethod.remoteBounceWindow) { [self] in
            state.withLock { state in remote.allSatisfy { Self.bounce(of: $0, in: state) != nil } }
        }
        return nil
    }

    /// Waits until every message came as far as it has to, or back.
    private func waitForMarks(_ recipients: [JID]) async {
        let rest = deadline.map { max(.zero, $0 - .now) } ?? Self.longestWait
        _ = await session.feed.wait(atMost: rest) { [self] in
            state.withLock { state in
                recipients.indices.allSatisfy { place in
                    state.sent[place] == nil || Self.bounce(of: place, in: state) != nil
                        || Self.level(of: place, in: state).map { $0 == order.level || $0 == .read } == true
                }
            }
        }
    }

    /// How long is waited for a recipient where the caller sets no limit.
    private static let longestWait: Duration = .seconds(30)

    /// Keeps what is said about the messages of this delivery; of all else that comes nothing, however long it takes.
    func note(_ event: XMPPEvent) {
        switch event {
        case .messageBounced(let message, let error):
            guard let from = message.from, let id = message.id else { return }
            state.withLock { state in
                // From the address it was sent to, or the server there (RFC 6120 §8.3.1).
                for to in state.addressees[id] ?? [] where from.bare == to || from == to.domain {
                    let bounce = Mark(id: id, from: to)
                    state.bounces[bounce] = state.bounces[bounce] ?? error
                }
            }
        case .receipt(let id, let from):
            reach(.device, id, from.bare)
        case .displayed(let id, let from):
            reach(.read, id, from.bare)
        case .connected, .serverKeyChanged, .authenticated, .presence, .buddyCameOnline, .buddyChanged,
            .buddyWentOffline,
            .subscriptionRequest, .roster, .message, .oversized, .carbon, .invitation, .room, .blockList, .interrupted,
            .resumed,
            .notResumed, .disconnected:
            break
        }
    }

    private func reach(_ level: SendOrder.Level, _ id: String, _ from: JID) {
        state.withLock { state in
            guard state.addressees[id]?.contains(from) == true else { return }
            let mark = Mark(id: id, from: from)
            if level == .read || state.marks[mark] == nil { state.marks[mark] = level }
        }
    }

    /// How many answers are kept: one bounce and one mark of each message at most.
    var answers: Int { state.withLock { $0.bounces.count + $0.marks.count } }

    /// How far beyond the server a message came.
    private static func level(of place: Int, in state: State) -> SendOrder.Level? {
        guard let id = state.sent[place]?.id else { return nil }
        return state.marks[Mark(id: id, from: state.recipients[place].bare)]
    }

    /// The bounce of a message.
    private static func bounce(of place: Int, in state: State) -> StanzaError? {
        guard let id = state.sent[place]?.id else { return nil }
        return state.bounces[Mark(id: id, from: state.recipients[place].bare)]
    }

    private func result(_ place: Int, _ jid: JID, _ doubt: ControlError?) -> JSONObject {
        let (message, failure, bounce, mark) = state.withLock { state in
            (
                state.sent[place], state.failures[place], Self.bounce(of: place, in: state),
                Self.level(of: place, in: state)
            )
        }
        let to = jid.description
        guard let message else { return Self.result(to: to, id: order.id, state: "failed", failure) }
        if let bounce {
            let error = ControlError(
                .refused, "\(to) did not get it: \(bounce)", stanza: ControlError.stanza(bounce),
                account: session.name)
            return Self.result(to: to, id: message.id, state: "failed", error)
        }
        let isHandled = order.level != .none && doubt == nil
        let reached = isHandled ? mark ?? .server : nil
        var doubt = doubt
        if let reached, order.level == .read && reached != .read || order.level == .device && reached == .server {
            doubt = ControlError(
                .timedOut, "\(to) did not say in time that it was \(order.level == .read ? "read" : "received")",
                account: session.name)
        }
        return Self.result(to: to, id: message.id, state: reached?.rawValue ?? "sent", doubt)
    }

    /// How far one message came.
    static func result(to: String, id: String?, state: String, _ error: ControlError?) -> JSONObject {
        JSONObject(present: [
            "to": .string(to), "id": id.map(JSONValue.string), "state": .string(state),
            "at": .string(DateTime.now.description), "error": error.map { .object($0.json) },
        ])
    }
}
