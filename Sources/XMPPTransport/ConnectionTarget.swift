// SPDX-License-Identifier: Apache-2.0

/// One place where a domain's service may be reached.
package struct ConnectionTarget: Sendable, Hashable, CustomStringConvertible {
    /// How the channel becomes secure.
    package enum Security: Sendable, Hashable {
        /// A plain stream is upgraded (RFC 6120 §5).
        case startTLS
        /// TLS from the first byte (XEP-0368).
        case directTLS

        /// The port that people expect when none is given: 5222 or 5223.
        package var defaultPort: UInt16 {
            switch self {
            case .startTLS: 5222
            case .directTLS: 5223
            }
        }
    }

    /// Host name as an A-label, or an address literal without brackets. Never a reference for certificates.
    package let host: String
    /// TCP port.
    package let port: UInt16
    /// How the channel becomes secure.
    package let security: Security

    /// Makes a target.
    ///
    /// - Parameters:
    ///   - host: Host name as an A-label, or an address literal.
    ///   - port: TCP port; `nil` for the usual port of `security`.
    ///   - security: How the channel becomes secure.
    package init(host: String, port: UInt16? = nil, security: Security = .startTLS) {
        self.host = host
        self.port = port ?? security.defaultPort
        self.security = security
    }

    /// `host:port`, with brackets around an IPv6 address.
    package var description: String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
