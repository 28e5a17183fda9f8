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
    /// - Parameter text: The address; `wss` only, since XMPP is not for the clear, and without user, password and
    ///   fragment.
    /// - Returns: `nil` when it is none.
    public init?(_ text: String) {
        guard text.utf8.count <= Self.maximumBytes, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
            text.lowercased().hasPrefix("wss://")
        else { return nil }
        let rest = text.dropFirst("wss://".count)
        let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        let tail = rest[end...]
        guard !tail.contains("#"), let place = HostPort(rest[..<end]) else { return nil }
        host = place.host
        port = place.port ?? 443
        path = tail.hasPrefix("/") ? String(tail) : "/" + tail
    }

    /// The address, as it is written.
    public var description: String { ConnectionTarget(self).description }
}

extension ConnectionTarget {
    /// The place of a WebSocket.
    init(_ address: WebSocketAddress) {
        self.init(host: address.host, port: address.port, security: .webSocket(path: address.path))
    }
}
