// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPPTransport

/// What a server has to show before the account's login begins.
public enum ServerTrust: Sendable, Hashable {
    /// A certificate that an authority vouches for and that is made out to the account's domain (RFC 6120 §13.7.2): one
    /// of the authorities that ``XMPPConfiguration/certificateAuthorityFile`` names, or else of the system's. Where the
    /// domain has proven itself in this way to its web server and says there which server it is and which keys that
    /// has, its word counts as well (XEP-0487 §4): see ``XMPPConfiguration/asksWebForPlaces``.
    case authorities
    /// What the domain's DNS says in signed TLSA records about the server (RFC 7673), which its certificate has to be
    /// then; it needs no authority unless they say so. Where there are no such records, or nobody has signed them, as
    /// ``authorities``. Where a signature is wrong or missing, the server is not used. The system has to know the keys
    /// of the DNS root. WebSockets, and what is reached through a proxy, are proven by authorities alone.
    case dane
    /// One of these keys: whoever signed the certificate, whatever it is made out to, and however old it is. No other
    /// key is taken, whoever vouches for it; with none at all, every server is refused.
    case keys([KeyFingerprint])
}

/// What a key of a server is known by: SHA-256 of it as certificates hold it (SubjectPublicKeyInfo), the same that a
/// TLSA record `3 1 1` holds (RFC 7671 §5.1). It stays when a certificate is renewed for the same key.
public struct KeyFingerprint: Sendable, Hashable, CustomStringConvertible {
    /// 32 bytes.
    public let bytes: [UInt8]

    /// Takes the bytes.
    ///
    /// - Returns: `nil` unless there are 32.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    /// Reads 64 hexadecimal digits; colons between pairs of them, as OpenSSL writes them, are passed over.
    ///
    /// - Returns: `nil` for everything else.
    public init?(_ text: String) {
        var digits: [UInt8] = []
        for scalar in text.unicodeScalars where scalar != ":" {
            guard scalar.isASCII, let value = Character(scalar).hexDigitValue, digits.count < 64 else { return nil }
            digits.append(UInt8(value))
        }
        guard digits.count == 64 else { return nil }
        bytes = stride(from: 0, to: 64, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// 64 hexadecimal digits in lower case.
    public var description: String { bytes.hexadecimal }
}

extension XMPPConfiguration {
    /// What TLS trusts, for streams.
    var trustAnchors: TrustAnchors {
        switch trust {
        case .authorities, .dane: webTrustAnchors
        case .keys(let keys): .keys(Set(keys.map(\.bytes)))
        }
    }

    /// What TLS trusts at web servers, which have keys of their own.
    var webTrustAnchors: TrustAnchors { certificateAuthorityFile.map(TrustAnchors.file) ?? .system }
}
