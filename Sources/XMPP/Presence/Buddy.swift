// SPDX-License-Identifier: Apache-2.0

public import XMPPCore

/// A contact with the resources it is online with.
public struct Buddy: Sendable, Hashable {
    /// One connected resource.
    public struct Resource: Sendable, Hashable {
        /// The full address.
        public var jid: JID
        /// The last available presence that it sent.
        public var presence: Presence
        /// When that presence took effect: the time it was sent where the stanza says so (XEP-0203), else when it arrived.
        public var since: DateTime

        /// Makes a resource.
        public init(jid: JID, presence: Presence, since: DateTime) {
            self.jid = jid
            self.presence = presence
            self.since = since
        }

        /// The name of the resource; empty for an address without one.
        public var name: String { jid.resourcepart ?? "" }
    }

    /// The bare address.
    public var jid: JID
    /// The name in the roster.
    public var name: String?
    /// The groups in the roster.
    public var groups: [String]
    /// The resources online, best first: by priority, then by the readiness that `show` tells, then the latest.
    public var resources: [Resource]

    /// Makes a buddy.
    public init(jid: JID, name: String? = nil, groups: [String] = [], resources: [Resource] = []) {
        self.jid = jid.bare
        self.name = name
        self.groups = groups
        self.resources = resources.sorted(by: Self.precedes)
    }

    /// Whether any resource is online.
    public var isOnline: Bool { !resources.isEmpty }

    /// The resource that a message would best reach.
    public var best: Resource? { resources.first }

    /// The name, or the address when there is none.
    public var displayName: String {
        if let name, !name.isEmpty { name } else { jid.description }
    }

    private static func precedes(_ left: Resource, _ right: Resource) -> Bool {
        if left.presence.priority != right.presence.priority {
            return left.presence.priority > right.presence.priority
        }
        let ranks = (readiness(left.presence.show), readiness(right.presence.show))
        if ranks.0 != ranks.1 { return ranks.0 < ranks.1 }
        if left.since != right.since { return left.since > right.since }
        return left.name < right.name
    }

    private static func readiness(_ show: Presence.Show?) -> Int {
        switch show {
        case .chat: 0
        case nil: 1
        case .away: 2
        case .xa: 3
        case .dnd: 4
        }
    }
}
