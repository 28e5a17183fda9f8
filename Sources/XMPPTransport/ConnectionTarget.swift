// SPDX-License-Identifier: Apache-2.0

package import SocketIO

/// One place where a domain's service may be reached.
package struct ConnectionTarget: Sendable, Hashable, CustomStringConvertible {
    /// How the channel becomes secure.
    package enum Security: Sendable, Hashable {
        /// A plain stream is upgraded (RFC 6120 §5).
        case startTLS
        /// TLS from the first byte (XEP-0368).
        case directTLS
        /// A WebSocket inside of TLS (RFC 7395) at this path of a web server, which begins with `/`.
        case webSocket(path: String)

        /// The port that people expect when none is given: 5222, 5223 or 443.
        package var defaultPort: UInt16 {
            switch self {
            case .startTLS: 5222
            case .directTLS: 5223
            case .webSocket: 443
            }
        }
    }

    /// Host name as an A-label, or an address literal without brackets. Never a reference for certificates, but that of
    /// a web server.
    package let host: String
    /// TCP port.
    package let port: UInt16
    /// How the channel becomes secure.
    package let security: Security
    /// Places of a lower number come first; those of one number are alike (RFC 2782).
    package let priority: UInt16
    /// What the domain says of the place over HTTPS (XEP-0487); `nil` where it says nothing.
    package let delegation: Delegation?

    /// Its addresses that were gone to already: those that are left are meant.
    package private(set) var avoided: Set<SocketAddress> = []

    /// Whether there may be another address of the host.
    package var mayHaveMoreAddresses: Bool {
        avoided.count < ConnectionRace.maximumAddresses && SocketAddress(literal: host, port: port) == nil
    }

    /// Whether both are the same host and port, at whatever addresses.
    package func isSamePlace(as other: ConnectionTarget) -> Bool {
        host == other.host && port == other.port && security == other.security
    }

    /// The same place at its other addresses.
    package func avoiding(_ address: SocketAddress) -> ConnectionTarget {
        var other = self
        other.avoided.insert(address)
        return other
    }

    /// Makes a target.
    ///
    /// - Parameters:
    ///   - host: Host name as an A-label, or an address literal.
    ///   - port: TCP port; `nil` for the usual port of `security`.
    ///   - security: How the channel becomes secure.
    ///   - priority: Its group among the places of a domain.
    ///   - delegation: What the domain says of the place over HTTPS.
    package init(
        host: String, port: UInt16? = nil, security: Security = .startTLS, priority: UInt16 = 0,
        delegation: Delegation? = nil
    ) {
        self.host = host
        self.port = port ?? security.defaultPort
        self.security = security
        self.priority = priority
        self.delegation = delegation
    }

    /// `host:port`, with brackets around an IPv6 address.
    package var authority: String { HostPort(host: host, port: port).description }

    /// What the field `Host` of HTTP says (RFC 9110 §7.2): an IPv6 address has brackets there too (RFC 3986 §3.2.2).
    package var hostField: String {
        if let field = delegation?.hostField { return field }
        return HostPort(host: host, port: port == security.defaultPort ? nil : port).description
    }

    /// The same; for a WebSocket its whole address.
    package var description: String {
        if case .webSocket(let path) = security { return "wss://\(authority)\(path)" }
        return authority
    }
}
