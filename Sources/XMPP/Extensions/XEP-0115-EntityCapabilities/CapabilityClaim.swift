// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPPCore
internal import XMPPCrypto
internal import XMPPXML

/// What a presence claims by a hash, and where the information behind it can be asked for.
struct CapabilityClaim: Hashable, Sendable {
    /// By which rules the hash was made. Hashes of one kind are no evidence for those of the other: XEP-0115's can be
    /// made to fit two lists of features.
    enum Rules: Hashable, Sendable {
        /// XEP-0115 §5.1.
        case entityCapabilities
        /// XEP-0390 §4.1.
        case entityCapabilities2
    }

    let rules: Rules
    let digest: Digest
    let hash: String
    let node: String

    /// Whether information has this hash (XEP-0115 §5.4, XEP-0390 §4.4); never when it is ill-formed.
    func isMet(by information: DiscoveryInformation) -> Bool {
        switch rules {
        case .entityCapabilities: information.verificationString(using: digest) == hash
        case .entityCapabilities2: information.capabilityHash(using: digest) == hash
        }
    }

    /// The claims of a presence, best first; none where it names hash functions that are not known here.
    static func claims(of presence: Presence) -> [CapabilityClaim] {
        var claims: [CapabilityClaim] = []
        for hash in presence.payload(CapabilityHashSet.self)?.values ?? [] {
            guard let digest = Digest(registeredName: hash.algorithm), digest != .sha1 else { continue }
            claims.append(
                CapabilityClaim(rules: .entityCapabilities2, digest: digest, hash: hash.value, node: hash.node))
        }
        if let capabilities = presence.payload(EntityCapabilities.self),
            let digest = Digest(registeredName: capabilities.hash)
        {
            claims.append(
                CapabilityClaim(
                    rules: .entityCapabilities, digest: digest, hash: capabilities.verification,
                    node: capabilities.fullNode))
        }
        return claims
    }
}

extension Digest {
    /// The function with a name of the IANA registry, in lower case as XMPP writes it.
    init?(registeredName name: String) {
        guard let digest = Self.allCases.first(where: { $0.description.lowercased() == name }) else { return nil }
        self = digest
    }
}

/// Information that was found to have the hash which a presence claimed: it is believed of everybody who claims the
/// same. Shared by the copies of a configuration, so that a new stream need not ask again.
final class CapabilitiesCache: Sendable {
    /// How many hashes are remembered; 1,000. A further one replaces the oldest.
    static let maximumEntries = 1_000
    /// Bytes of the information behind a hash that is remembered; 16 KiB, some ten times what usual clients have.
    /// Somebody else chooses it: larger ones are asked for again.
    static let maximumEntryBytes = 16_384

    private struct Key: Hashable, Sendable {
        let rules: CapabilityClaim.Rules
        let digest: Digest
        let hash: String

        init(_ claim: CapabilityClaim) {
            rules = claim.rules
            digest = claim.digest
            hash = claim.hash
        }
    }

    private let entries = Locked(LatestEntries<Key, DiscoveryInformation>(maximumCount: maximumEntries))

    /// What a claim stands for; `nil` while nobody has shown it.
    subscript(claim: CapabilityClaim) -> DiscoveryInformation? {
        entries.withLock { $0[Key(claim)] }
    }

    /// Remembers what a claim stands for, if it is met (XEP-0115 §5.4).
    func store(_ information: DiscoveryInformation, for claim: CapabilityClaim) {
        guard information.storedBytes <= Self.maximumEntryBytes, claim.isMet(by: information) else { return }
        entries.withLock { $0.store(information, for: Key(claim)) }
    }
}

extension DiscoveryInformation {
    /// About how many bytes it takes.
    var storedBytes: Int {
        var bytes = features.reduce(0) { $0 + MemoryLayout<String>.stride + $1.utf8.count }
        for identity in identities {
            bytes += MemoryLayout<Identity>.stride + identity.category.utf8.count + identity.type.utf8.count
            bytes += (identity.name?.utf8.count ?? 0) + (identity.language?.utf8.count ?? 0)
        }
        // Forms that were read hold on to the whole answer, which is counted once.
        var wrapper = Element("query", namespace: Self.namespace)
        wrapper.append(contentsOf: extensions)
        return bytes + wrapper.storedBytes
    }
}

extension XMPPStream {
    /// What a client can do, as its presence claims by a hash (XEP-0390, XEP-0115): asked once for all clients that
    /// claim the same. A hash that does not fit is believed of nobody else.
    ///
    /// - Parameter jid: The full address of a contact's client.
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``.
    public func capabilities(of jid: JID) async throws(XMPPError) -> DiscoveryInformation {
        let claims = tracker.presence(of: jid).map(CapabilityClaim.claims) ?? []
        for claim in claims {
            if let known = configuration.capabilities[claim] { return known }
        }
        guard let claim = claims.first else { return try await knownInformation(of: jid) }
        let information = try await discoverInformation(of: jid, node: claim.node)
        configuration.capabilities.store(information, for: claim)
        return information
    }
}
