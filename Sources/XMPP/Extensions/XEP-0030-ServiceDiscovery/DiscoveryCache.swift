// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore

/// What entities have said of themselves in the present session.
struct DiscoveryCache: Sendable {
    /// What was asked.
    struct Key: Hashable, Sendable {
        let jid: JID
        let node: String?
    }

    /// How many answers are remembered; 500. A further one replaces the oldest.
    static let maximumEntries = 500

    private var entries = LatestEntries<Key, DiscoveryInformation>(maximumCount: maximumEntries)

    /// The answer to a question that was asked before.
    subscript(key: Key) -> DiscoveryInformation? { entries[key] }

    /// Remembers an answer.
    mutating func store(_ information: DiscoveryInformation, for key: Key) {
        entries.store(information, for: key)
    }
}

extension XMPPStream {
    /// What an entity is and can do, asked once in a session: for servers, rooms and other services, which do not
    /// change from one minute to the next. Failures are not remembered.
    ///
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``.
    public func knownInformation(of jid: JID, node: String? = nil) async throws(XMPPError) -> DiscoveryInformation {
        let key = DiscoveryCache.Key(jid: jid, node: node)
        if let known = discovered[key] { return known }
        let information = try await discoverInformation(of: jid, node: node)
        discovered.store(information, for: key)
        return information
    }
}

extension DiscoveryInformation {
    /// Whether a feature is named.
    public func supports(_ feature: String) -> Bool { features.contains(feature) }

    /// The forms that the information is extended by (XEP-0128).
    public var forms: [DataForm] { extensions.compactMap(DataForm.init) }

    /// The form of a type.
    public func form(_ type: String) -> DataForm? { forms.first { $0.type == type } }
}
