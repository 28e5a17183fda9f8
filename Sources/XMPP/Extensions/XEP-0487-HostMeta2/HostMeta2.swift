// SPDX-License-Identifier: Apache-2.0

internal import JSONText
internal import SocketIO
internal import XMPPCrypto
internal import XMPPTransport

/// What a domain publishes about every way to reach it (XEP-0487): addresses, ports and ranks, the names and keys of
/// its servers, and for how long that holds.
struct HostMeta2: Sendable, Hashable {
    /// The path of the file (RFC 6415 §3).
    static let path = "/.well-known/host-meta.json"
    /// Links looked at; the rest is passed over. 64.
    static let maximumLinks = 64
    /// Addresses of one link; the rest is passed over. 8.
    static let maximumAddresses = 8
    /// Keys that are named; a file with more is none, since some would be left out. 32.
    static let maximumKeys = 32
    /// How long it is believed at most, whatever it says; a week (XEP-0487 §8).
    static let maximumLifetime: Duration = .seconds(604_800)

    /// One way to one server.
    struct Link: Sendable, Hashable, RankedPlace {
        /// How a stream gets there, and at which port.
        let security: ConnectionTarget.Security
        let port: UInt16
        /// Where to connect to: address literals, in the order to try them.
        let addresses: [String]
        let priority: UInt16
        let weight: UInt16
        /// The name that the server goes by, and that of the web server where it is one.
        let serverName: String
        let hostField: String?
    }

    /// How long it holds.
    let lifetime: Duration
    /// SHA-256 of keys, one of which has to be in the server's certificate or in one above it; none says nothing.
    let pinnedKeys: Set<[UInt8]>
    /// The ways that this client knows, in the file's order.
    let links: [Link]
    /// How many links of these kinds do not say all that they must.
    let passedOver: Int
    /// Whether it names a place for BOSH over HTTPS, which this library does not speak.
    let namesBOSH: Bool

    /// Reads the file.
    ///
    /// What this client does not know, and links that say not all that they must, are passed over. Where the keys
    /// cannot be read, nothing of the file is believed: it would ask for less than the domain does.
    ///
    /// - Parameter file: The file, as it was read from JSON.
    /// - Returns: `nil` when it does not say that it is of this kind, or how long it holds.
    init?(_ file: JSONObject) {
        guard let about = file["xmpp"]?.objectValue, let seconds = about.int("ttl"), seconds >= 0,
            let keys = Self.keys(about["public-key-pins-sha-256"])
        else { return nil }
        lifetime = min(.seconds(seconds), Self.maximumLifetime)
        pinnedKeys = keys
        let all = (file["links"]?.arrayValue ?? []).prefix(Self.maximumLinks).compactMap(\.objectValue)
        links = all.compactMap(Link.init)
        passedOver = all.count(where: Link.isOfKnownKind) - links.count
        namesBOSH = all.contains {
            $0.string("rel") == HostMeta.boshRelation && HostMeta.isSecure($0.string("href"))
        }
    }

    /// The places in the order to try them.
    ///
    /// - Parameter generator: Where the choice by weight comes from.
    func places(using generator: inout some RandomNumberGenerator) -> [ConnectionTarget] {
        let targets = ConnectionPlanner.order(links, using: &generator).flatMap { link in
            link.addresses.map { address in
                ConnectionTarget(
                    host: address, port: link.port, security: link.security, priority: link.priority,
                    delegation: Delegation(
                        serverName: link.serverName, pinnedKeys: pinnedKeys, hostField: link.hostField))
            }
        }
        return Array(targets.prefix(ConnectionPlanner.maximumTargets))
    }

    private static func keys(_ value: JSONValue?) -> Set<[UInt8]>? {
        guard let value else { return [] }
        guard let texts = value.arrayValue, texts.count <= maximumKeys else { return nil }
        var keys: Set<[UInt8]> = []
        for text in texts {
            guard let key = text.stringValue.flatMap(Base64.decode), key.count == Digest.sha256.byteCount else {
                return nil
            }
            keys.insert(key)
        }
        return keys
    }
}

extension HostMeta2.Link {
    private static let directTLSRelation = "urn:xmpp:alt-connections:tls"

    /// Reads a link; `nil` when it is of a kind that is not known, or lacks something that it must have (XEP-0487 §3).
    fileprivate init?(_ link: JSONObject) {
        guard let priority = link.int("priority").flatMap(UInt16.init(exactly:)),
            let weight = link.int("weight").flatMap(UInt16.init(exactly:)),
            let name = link.string("sni").flatMap(Self.hostName)
        else { return nil }
        switch link.string("rel") {
        case Self.directTLSRelation:
            guard let number = link.int("port").flatMap(UInt16.init(exactly:)), number > 0 else { return nil }
            (security, port, hostField) = (.directTLS, number, nil)
        case HostMeta.webSocketRelation:
            guard let address = link.string("href").flatMap(WebSocketAddress.init) else { return nil }
            let target = ConnectionTarget(address)
            (security, port, hostField) = (target.security, target.port, target.hostField)
        default: return nil
        }
        addresses = (link["ips"]?.arrayValue ?? []).prefix(HostMeta2.maximumAddresses).compactMap { text in
            text.stringValue.flatMap { SocketAddress(literal: $0, port: 0)?.host }
        }
        guard !addresses.isEmpty else { return nil }
        (self.priority, self.weight, serverName) = (priority, weight, name)
    }

    /// Whether this client knows what kind of way a link is.
    fileprivate static func isOfKnownKind(_ link: JSONObject) -> Bool {
        [directTLSRelation, HostMeta.webSocketRelation].contains(link.string("rel"))
    }

    /// A name that can be asked for by Server Name Indication (RFC 6066 §3), in lower case.
    private static func hostName(_ text: String) -> String? {
        guard let address = WebSocketAddress("wss://\(text)/"), address.host == text.lowercased(),
            SocketAddress(literal: address.host, port: 0) == nil
        else { return nil }
        return address.host
    }
}
