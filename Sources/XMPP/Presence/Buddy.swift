// SPDX-License-Identifier: Apache-2.0

public import XMPPCore

/// A contact with the resources it is online with.
public struct Buddy: Sendable, Hashable {
    /// One connected resource.
    public struct Resource: Sendable, Hashable {
        /// The full address.
        public var jid: JID
        /// The last available presence that it sent; of one that is longer than 4 KiB, what RFC 6121 §4.7.2 says of a
        /// presence, with the first 500 characters of its status.
        public var presence: Presence
        /// When that presence took effect: the time it was sent where the stanza says so (XEP-0203), else when it
        /// arrived.
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

    /// Makes a buddy of resources that are in order already; the array is shared, not copied.
    init(jid: JID, item: RosterItem?, ordered resources: [Resource]) {
        self.jid = jid.bare
        name = item?.name
        groups = item?.groups ?? []
        self.resources = resources
    }

    /// Whether any resource is online.
    public var isOnline: Bool { !resources.isEmpty }

    /// The resource that a message would best reach.
    public var best: Resource? { resources.first }

    /// The name, or the address when there is none.
    public var displayName: String {
        if let name, !name.isEmpty { name } else { jid.description }
    }

    fileprivate static func precedes(_ left: Resource, _ right: Resource) -> Bool {
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

extension Buddy: Listed {}

extension [Buddy.Resource] {
    /// Puts a resource where it belongs in an array that is in order, in place of the one with its address.
    ///
    /// - Parameter maximum: How many there may be: the oldest makes room.
    mutating func admit(_ resource: Buddy.Resource, maximum: Int) {
        if let known = firstIndex(where: { $0.jid == resource.jid }) {
            remove(at: known)
        } else if count >= maximum, let oldest = indices.min(by: { self[$0].since < self[$1].since }) {
            remove(at: oldest)
        }
        var low = startIndex
        var high = endIndex
        while low < high {
            let middle = (low + high) / 2
            if Buddy.precedes(resource, self[middle]) { high = middle } else { low = middle + 1 }
        }
        insert(resource, at: low)
    }
}
