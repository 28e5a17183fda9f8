// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPP

/// What the daemon notes of an account beside what the stream knows: the own other resources, and who asks for a
/// subscription.
final class SessionNotes: Sendable {
    /// A subscription request without an answer (RFC 6121 §3.1.3).
    struct SubscriptionRequest: Sendable, Hashable {
        let jid: JID
        /// What it says; of one that is longer than `Presence.maximumKeptBytes` the beginning.
        let text: String?
        let at: DateTime
    }

    /// How many subscription requests are kept; further ones are not listed.
    static let maximumRequests = 1_000
    /// How many resources of the own account are kept.
    static let maximumResources = 64

    private struct State {
        var resources: [JID: Buddy.Resource] = [:]
        var requests: [SubscriptionRequest] = []
        var session: JID?
    }

    private let account: JID
    private let state = Locked(State())

    init(account: JID) {
        self.account = account.bare
    }

    /// The own account as if it were a contact, without this session itself.
    var own: Buddy {
        state.withLock { state in
            Buddy(jid: account, resources: state.resources.values.filter { $0.jid != state.session })
        }
    }

    /// Whether an address is that of this session itself.
    func isThisSession(_ jid: JID) -> Bool { state.withLock { $0.session == jid } }

    /// The requests without an answer, oldest first.
    var requests: [SubscriptionRequest] { state.withLock { $0.requests } }

    /// A request was answered.
    func answered(_ jid: JID) {
        state.withLock { $0.requests.removeAll { $0.jid == jid.bare } }
    }

    /// Takes in what happened.
    func note(_ event: XMPPEvent) {
        switch event {
        case .authenticated(let jid):
            state.withLock { state in
                state.session = jid
                state.resources = [:]
            }
        case .presence(let presence):
            guard let from = presence.from, from.bare == account else { return }
            note(presence, from: from)
        case .subscriptionRequest(let request):
            guard let jid = request.from?.bare else { return }
            // Strangers choose how long their texts are, and a thousand of them are kept.
            note(SubscriptionRequest(jid: jid, text: request.kept.status, at: request.sentAt()))
        case .connected, .serverKeyChanged, .buddyCameOnline, .buddyChanged, .buddyWentOffline, .roster, .message,
            .oversized, .messageBounced,
            .receipt, .displayed, .carbon, .invitation, .room, .blockList, .interrupted, .resumed, .notResumed,
            .disconnected:
            break
        }
    }

    private func note(_ presence: Presence, from: JID) {
        state.withLock { state in
            guard presence.kind == .available else {
                state.resources[from] = nil
                return
            }
            guard state.resources[from] != nil || state.resources.count < Self.maximumResources else { return }
            state.resources[from] = Buddy.Resource(
                jid: from, presence: presence.kept, since: presence.sentAt())
        }
    }

    private func note(_ request: SubscriptionRequest) {
        state.withLock { state in
            if let place = state.requests.firstIndex(where: { $0.jid == request.jid }) {
                state.requests[place] = request
            } else if state.requests.count < Self.maximumRequests {
                state.requests.append(request)
            }
        }
    }
}
