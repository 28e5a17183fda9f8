// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
public import XMPPCore

/// The roster: a delegate that keeps it up to date, from the first result through every push. Pushes add to it up to
/// 20,000 contacts, and 16 MiB of addresses, names and groups; further contacts are reported by the stream, and not
/// kept.
///
/// ```swift
/// let roster = RosterStore()
/// stream.add(chatDelegate: roster)
/// try await stream.requestRoster(known: roster.known)
/// for contact in roster.items { print(contact.displayName, contact.subscription) }
/// ```
public final class RosterStore: ChatDelegate {
    private struct State {
        var contacts = ContactTable()
        var version: String?
        /// Whether no contact was left out since the whole roster came.
        var isWhole = true
        var requests: [JID: Presence] = [:]
        var hasArrived = false

        mutating func replace(_ items: [RosterItem]) {
            contacts = ContactTable(items)
            isWhole = true
        }
    }

    /// How many subscription requests are kept; 1,000. Further ones are still reported by the stream. Of one that is
    /// longer than 4 KiB the first 500 characters of its status are kept.
    public static let maximumSubscriptionRequests = 1_000

    private let state: Locked<State>

    /// Makes a store, empty or with a roster kept from an earlier session.
    public init(known: KnownRoster? = nil) {
        var state = State()
        if let known {
            state.version = known.version
            state.replace(known.items)
        }
        self.state = Locked(state)
    }

    /// Whether the server has said what the roster is.
    public var hasArrived: Bool { state.withLock { $0.hasArrived } }

    /// The contacts, sorted by name and then by address.
    public var items: [RosterItem] {
        state.withLock { $0.contacts.all }.inDisplayOrder()
    }

    /// One contact.
    public func item(_ jid: JID) -> RosterItem? {
        state.withLock { $0.contacts[jid] }
    }

    /// The names of all groups, sorted.
    public var groups: [String] {
        Set(state.withLock { $0.contacts.all.flatMap(\.groups) }).sorted()
    }

    /// The roster with its version, to keep until the next session; `nil` when the server gives no versions, or has
    /// pushed more than is kept, so that the version says more than is known.
    public var known: KnownRoster? {
        state.withLock { state in
            guard state.isWhole, let version = state.version else { return nil }
            return KnownRoster(version: version, items: state.contacts.all)
        }
    }

    /// Who asks to see the user's presence and has no answer yet, by address (RFC 6121 §3.1.3).
    public var subscriptionRequests: [Presence] {
        let requests = state.withLock { $0.requests }
        return requests.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Takes a change over.
    public func stream(_ stream: XMPPStream, didUpdateRoster update: RosterUpdate) async {
        state.withLock { state in
            switch update {
            case .received(let items, let version):
                state.replace(items)
                state.version = version
                state.hasArrived = true
            case .unchanged(let version):
                state.version = version
                state.hasArrived = true
            case .changed(.updated(let item), let version):
                state.isWhole = state.contacts.update(item) && state.isWhole
                state.version = version ?? state.version
                if item.subscription.includesFrom { state.requests[item.jid] = nil }
            case .changed(.removed(let jid), let version):
                state.contacts.remove(jid)
                state.version = version ?? state.version
            }
        }
    }

    /// Notes a request until it is answered.
    public func stream(_ stream: XMPPStream, didReceiveSubscriptionRequest request: Presence) async {
        guard let jid = request.from?.bare else { return }
        state.withLock { state in
            if state.requests.count < Self.maximumSubscriptionRequests || state.requests[jid] != nil {
                state.requests[jid] = request.kept
            }
        }
    }

    /// Forgets a request that was answered with a refusal; an approval shows in the roster by itself.
    public func forgetSubscriptionRequest(of jid: JID) {
        state.withLock { $0.requests[jid.bare] = nil }
    }
}
