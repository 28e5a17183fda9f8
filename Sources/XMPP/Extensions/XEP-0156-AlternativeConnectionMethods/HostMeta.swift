// SPDX-License-Identifier: Apache-2.0

internal import XMPPXML

/// What a domain publishes about other ways to reach it (XEP-0156 §3): its host-meta file (RFC 6415).
struct HostMeta: Sendable, Hashable {
    /// The path of the file (RFC 6415 §2).
    static let path = "/.well-known/host-meta"
    /// WebSockets taken from it at most.
    static let maximumAddresses = 4
    /// The relation of a WebSocket (XEP-0156 §3).
    private static let webSocketRelation = "urn:xmpp:alt-connections:websocket"
    private static let namespace = "http://docs.oasis-open.org/ns/xri/xrd-1.0"

    /// Where WebSockets are, in the file's order; those in the clear are left out.
    let webSockets: [WebSocketAddress]

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
        var addresses: [WebSocketAddress] = []
        for case .element(let link) in outcome.events
        where link.isNamed("Link", namespace: Self.namespace) && link["rel"] == Self.webSocketRelation {
            if let address = link["href"].flatMap(WebSocketAddress.init), !addresses.contains(address) {
                addresses.append(address)
            }
        }
        webSockets = Array(addresses.prefix(Self.maximumAddresses))
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
