// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPPTransport

/// The address of a WebSocket inside of TLS, as in `wss://example.org:5281/xmpp-websocket` (RFC 6455 §3).
public struct WebSocketAddress: Sendable, Hashable, CustomStringConvertible {
    /// Bytes of an address at most.
    public static let maximumBytes = 2_048

    /// The host name in lower case, or the address literal without brackets.
    public let host: String
    /// The TCP port; 443 unless the address names another.
    public let port: UInt16
    /// The path with its query; begins with `/`.
    public let path: String

    /// Reads an address.
    ///
    /// - Parameter text: The address; `wss` only, since XMPP is not for the clear, and without user, password and fragment.
    /// - Returns: `nil` when it is none.
    public init?(_ text: String) {
        guard text.utf8.count <= Self.maximumBytes, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
            text.lowercased().hasPrefix("wss://")
        else { return nil }
        let rest = text.dropFirst("wss://".count)
        let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        let tail = rest[end...]
        guard !tail.contains("#"), let (host, port) = Self.place(rest[..<end]) else { return nil }
        self.host = host
        self.port = port
        path = tail.hasPrefix("/") ? String(tail) : "/" + tail
    }

    /// The address, as it is written.
    public var description: String { ConnectionTarget(self).description }

    /// Host and port of the authority of an address.
    private static func place(_ authority: Substring) -> (host: String, port: UInt16)? {
        var host = authority
        var port: UInt16 = 443
        if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
            let digits = authority[authority.index(after: colon)...]
            guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt16(digits), number > 0 else {
                return nil
            }
            host = authority[..<colon]
            port = number
        }
        if host.hasPrefix("["), host.hasSuffix("]") {
            let literal = String(host.dropFirst().dropLast())
            guard literal.contains(":"), SocketAddress(literal: literal, port: 0) != nil else { return nil }
            return (literal, port)
        }
        let isName = host.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard isName, !host.isEmpty, host.utf8.count <= 255, !host.hasPrefix(".") else { return nil }
        return (host.lowercased(), port)
    }
}

extension ConnectionTarget {
    /// The place of a WebSocket.
    init(_ address: WebSocketAddress) {
        self.init(host: address.host, port: address.port, security: .webSocket(path: address.path))
    }

    /// What the field `Host` of HTTP says (RFC 9110 §7.2).
    var hostField: String {
        let host = host.contains(":") ? "[\(host)]" : host
        return port == security.defaultPort ? host : "\(host):\(port)"
    }
}
