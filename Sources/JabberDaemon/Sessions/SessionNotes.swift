// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPP
internal import XMPPStorage

/// What the daemon notes of an account beside what the stream knows: the own other resources, and who asks for a
/// subscription.
final class SessionNotes: Sendable {
    /// How many subscription requests are noted; further ones are not listed.
    static let maximumRequests = KeptRequests.maximumRequests
    /// How many resources of the own account are kept.
    static let maximumResources = 64

    private struct State {
        var resources: [JID: Buddy.Resource] = [:]
        var requests: [KeptRequest] = []
        var session: JID?

        mutating func note(_ request: KeptRequest) {
            if let place = requests.firstIndex(where: { $0.jid == request.jid }) {
                requests[place] = request
            } else if requests.count < SessionNotes.maximumRequests {
                requests.append(request)
            }
        }
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
    var requests: [KeptRequest] { state.withLock { $0.requests } }

    /// A request was answered.
    func answered(_ jid: JID) {
        state.withLock { $0.requests.removeAll { $0.jid == jid.bare } }
    }

    /// Notes requests that were kept before anything was noted here, in their order.
    func restore(_ requests: [KeptRequest]) {
        state.withLock { state in
            let news = state.requests
            state.requests = requests
            for request in news { state.note(request) }
        }
    }

    /// The server is about to tell of all who wait for an answer.
    func forgetRequests() {
        state.withLock { $0.requests = [] }
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
            guard let request = KeptRequest(request) else { return }
            state.withLock { $0.note(request) }
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
}

extension KeptRequest {
    /// What is kept of a request: of a text that is longer than `Presence.maximumKeptBytes` the beginning, as strangers
    /// choose how long their texts are, and a thousand of them are kept.
    init?(_ request: Presence) {
        guard let jid = request.from?.bare else { return nil }
        self.init(jid: jid, text: request.kept.status, at: request.sentAt())
    }
}
