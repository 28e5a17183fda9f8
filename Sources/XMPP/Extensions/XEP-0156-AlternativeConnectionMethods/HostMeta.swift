// SPDX-License-Identifier: Apache-2.0

internal import JSONText
internal import XMPPXML

/// What a domain publishes about other ways to reach it (XEP-0156 §3): its host-meta file (RFC 6415).
struct HostMeta: Sendable, Hashable {
    /// The path of the file (RFC 6415 §2).
    static let path = "/.well-known/host-meta"
    /// WebSockets taken from it at most.
    static let maximumAddresses = 4
    /// The relation of a WebSocket (XEP-0156 §3).
    static let webSocketRelation = "urn:xmpp:alt-connections:websocket"
    /// The relation of BOSH (XEP-0156 §3, XEP-0206).
    static let boshRelation = "urn:xmpp:alt-connections:xbosh"
    private static let namespace = "http://docs.oasis-open.org/ns/xri/xrd-1.0"

    /// Where WebSockets are, in the file's order; those in the clear are left out.
    let webSockets: [WebSocketAddress]
    /// Whether it names a place for BOSH over HTTPS, which this library does not speak.
    let namesBOSH: Bool
    /// How many links of these kinds lead into the clear, or nowhere.
    let passedOver: Int

    /// Reads the file.
    ///
    /// - Parameter bytes: The file: XRD in XML.
    /// - Returns: `nil` when it is none.
    init?(_ bytes: [UInt8]) {
        let parser = XMLStreamParser(limits: .beforeAuthentication)
        let outcome = parser.feed(Self.withoutComments(bytes)[...], .batch)
        guard outcome.error == nil, case .streamOpened(let root, _)? = outcome.events.first,
            root.isNamed("XRD", namespace: Self.namespace), outcome.events.last == .streamClosed
        else { return nil }
        var links: [(relation: String?, address: String?)] = []
        for case .element(let link) in outcome.events where link.isNamed("Link", namespace: Self.namespace) {
            links.append((link["rel"], link["href"]))
        }
        self.init(links)
    }

    /// Reads the same in JSON (RFC 6415 Appendix A).
    ///
    /// - Parameter file: The file, as it was read.
    init(_ file: JSONObject) {
        let links = (file["links"]?.arrayValue ?? []).compactMap(\.objectValue)
        self.init(links.map { ($0.string("rel"), $0.string("href")) })
    }

    private init(_ links: [(relation: String?, address: String?)]) {
        webSockets = Self.webSockets(of: links)
        namesBOSH = links.contains { $0.relation == Self.boshRelation && Self.isSecure($0.address) }
        passedOver = links.count { link in
            switch link.relation {
            case Self.webSocketRelation: link.address.flatMap(WebSocketAddress.init) == nil
            case Self.boshRelation: !Self.isSecure(link.address)
            default: false
            }
        }
    }

    /// Whether an address of BOSH is one inside of TLS (XEP-0156 §3).
    static func isSecure(_ address: String?) -> Bool { address?.lowercased().hasPrefix("https://") == true }

    private static func webSockets(of links: [(relation: String?, address: String?)]) -> [WebSocketAddress] {
        var addresses: [WebSocketAddress] = []
        for link in links where link.relation == webSocketRelation {
            if let address = link.address.flatMap(WebSocketAddress.init), !addresses.contains(address) {
                addresses.append(address)
            }
        }
        return Array(addresses.prefix(maximumAddresses))
    }

    /// Takes comments out: people write such files by hand, and the parser is one of streams, which have none.
    private static func withoutComments(_ bytes: [UInt8]) -> [UInt8] {
        let (opening, closing) = (Array("<!--".utf8), Array("-->".utf8))
        var kept: [UInt8] = []
        var rest = bytes[...]
        while let start = rest.firstRange(of: opening) {
            kept += rest[..<start.lowerBound]
            guard let end = rest[start.upperBound...].firstRange(of: closing) else { return kept }
            rest = rest[end.upperBound...]
        }
        return kept + rest
    }
}
