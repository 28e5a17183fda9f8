// SPDX-License-Identifier: Apache-2.0

package import XMPPCrypto

/// A server that connects in our place, and looks names up in our place too.
package struct Proxy: Sendable, CustomStringConvertible {
    /// How it is asked.
    package enum Kind: String, Sendable, Hashable {
        /// SOCKS 5 (RFC 1928), with a name and a password where it wants them (RFC 1929).
        case socks5
        /// HTTP's CONNECT (RFC 9110 §9.3.6), with Basic authentication (RFC 7617) where a name is given.
        case http
    }

    /// Bytes of a name, or of a password, at most: what RFC 1929 §2 has room for.
    package static let maximumCredentialBytes = 255

    /// How it is asked.
    package let kind: Kind
    /// Its host: a name, or an address literal without brackets.
    package let host: String
    /// Its TCP port.
    package let port: UInt16
    /// Who asks; `nil` for nobody in particular.
    package let username: String?
    /// The password for that name, in UTF-8.
    package let password: SecretBytes?

    /// Names a proxy.
    package init(_ kind: Kind, host: String, port: UInt16, username: String? = nil, password: SecretBytes? = nil) {
        self.kind = kind
        self.host = host
        self.port = port
        self.username = username
        self.password = password
    }

    /// Where it is and how it is asked; neither name nor password.
    package var description: String {
        "\(kind.rawValue)://\(PrintableText.clean(target.description))"
    }

    /// The place of the proxy itself.
    var target: ConnectionTarget { ConnectionTarget(host: host, port: port) }

    /// What is said to it to get to a place.
    func dialogue(to target: ConnectionTarget) -> any ProxyDialogue {
        switch kind {
        case .socks5: SOCKSDialogue(self, to: target)
        case .http: ConnectDialogue(self, to: target)
        }
    }
}
