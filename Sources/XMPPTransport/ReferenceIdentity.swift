// SPDX-License-Identifier: Apache-2.0

internal import SocketIO

/// Whom a certificate must prove: the domain of the account's JID, never the host that was connected to
/// (RFC 6120 §13.7.2.1).
package struct ReferenceIdentity: Sendable, Hashable, CustomStringConvertible {
    /// The domain as an A-label in lower case, or an address without brackets.
    package let domain: String
    /// The domain as it is written for people; equals ``domain`` when it is plain ASCII.
    package let unicodeDomain: String
    /// The bytes of the address when the domain is an address literal: 4 or 16.
    package let addressBytes: [UInt8]?
    /// What the domain says over HTTPS of the place that is connected to; `nil` where it says nothing.
    package let delegation: Delegation?

    /// Makes an identity.
    ///
    /// - Parameters:
    ///   - domain: The JID's domain as an A-label; a literal IPv6 address may stand in brackets. One trailing dot is
    ///     dropped.
    ///   - unicodeDomain: The same domain as a U-label, for XmppAddr names, which are written in UTF-8.
    ///   - delegation: What the domain says over HTTPS of the place that is connected to.
    package init(domain: String, unicodeDomain: String? = nil, delegation: Delegation? = nil) {
        self.delegation = delegation
        var domain = domain
        if domain.hasSuffix(".") { domain.removeLast() }
        if let address = SocketAddress(literal: domain, port: 0) {
            self.domain = address.host
            addressBytes = address.hostBytes
        } else {
            self.domain = domain.lowercased()
            addressBytes = nil
        }
        self.unicodeDomain = unicodeDomain?.lowercased() ?? self.domain
    }

    /// The name for TLS Server Name Indication; `nil` for an address literal (RFC 6066 §3).
    package var serverName: String? { delegation?.serverName ?? (addressBytes == nil ? domain : nil) }

    /// The domain as people write it, with the A-label behind it where the two differ.
    package var description: String {
        unicodeDomain == domain ? domain : "\(unicodeDomain) (\(domain))"
    }

    /// Whether a name that a certificate presents proves this identity.
    ///
    /// Accepted are DNS-ID with a wildcard only as the whole leftmost label, SRV-ID for `_xmpp-client`, XmppAddr with a
    /// bare domain (RFC 6120 §13.7.1.2.1), and IP-ID for an address literal (RFC 9525 §4.2). Nothing else: no common
    /// name, no URI, no mail address. Where the domain has named a server over HTTPS, that server's name is as good
    /// (XEP-0487 §4).
    package func isProven(by name: PresentedName) -> Bool {
        if let delegation, ReferenceIdentity(domain: delegation.serverName).isProven(by: name) { return true }
        return switch name {
        case .dns(let bytes):
            addressBytes == nil && matchesDNS(bytes)
        case .service(let bytes):
            addressBytes == nil && matchesService(bytes)
        case .xmppAddress(let bytes):
            matchesXMPPAddress(bytes)
        case .address(let bytes):
            addressBytes == bytes
        case .other:
            false
        }
    }

    /// RFC 6125 §6.4: labels compared without regard to ASCII case; a lone `*` stands for exactly one leftmost label.
    private func matchesDNS(_ bytes: [UInt8]) -> Bool {
        guard let presented = Self.lowercasedHostName(bytes) else { return false }
        if presented == domain { return true }
        guard presented.hasPrefix("*.") else { return false }
        let suffix = presented.dropFirst(2)
        // A star directly above a top-level domain would vouch for everybody there (RFC 6125 §7.2).
        guard !suffix.contains("*"), suffix.contains(".") else { return false }
        guard let dot = domain.unicodeScalars.firstIndex(of: "."), dot != domain.startIndex else { return false }
        return domain[domain.index(after: dot)...] == suffix
    }

    /// RFC 4985 §2: `_service.name`, no wildcard. The service is the one that registered for clients.
    private func matchesService(_ bytes: [UInt8]) -> Bool {
        guard let presented = Self.lowercasedHostName(bytes) else { return false }
        return presented == "_xmpp-client." + domain
    }

    /// RFC 6120 §13.7.1.4: a JID in UTF-8; of a server it has neither localpart nor resource.
    private func matchesXMPPAddress(_ bytes: [UInt8]) -> Bool {
        guard let text = String(validating: bytes, as: UTF8.self) else { return false }
        let presented = text.lowercased()
        return presented == unicodeDomain || presented == domain
    }

    /// The name in lower case; `nil` when it holds a byte that no host name has, a NUL or a space above all.
    private static func lowercasedHostName(_ bytes: [UInt8]) -> String? {
        guard !bytes.isEmpty else { return nil }
        var lowered: [UInt8] = []
        lowered.reserveCapacity(bytes.count)
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): lowered.append(byte | 0x20)
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "*"):
                lowered.append(byte)
            default: return nil
            }
        }
        return String(decoding: lowered, as: UTF8.self)
    }
}

/// A name in a certificate, with the bytes as they are there.
package enum PresentedName: Sendable, Hashable, CustomStringConvertible {
    /// dNSName.
    case dns([UInt8])
    /// otherName SRVName (RFC 4985).
    case service([UInt8])
    /// otherName id-on-xmppAddr (RFC 6120 §13.7.1.4).
    case xmppAddress([UInt8])
    /// iPAddress: 4 or 16 bytes.
    case address([UInt8])
    /// A kind that proves nothing here; its kind in words.
    case other(String)

    /// The name for people; what could harm a terminal is escaped.
    package var description: String {
        switch self {
        case .dns(let bytes): PrintableText.clean(bytes)
        case .service(let bytes): PrintableText.clean(bytes)
        case .xmppAddress(let bytes): "xmpp:" + PrintableText.clean(bytes)
        case .address(let bytes): SocketAddress(hostBytes: bytes)?.host ?? "malformed address"
        case .other(let kind): kind
        }
    }
}
