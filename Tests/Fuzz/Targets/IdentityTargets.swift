// SPDX-License-Identifier: Apache-2.0

import COpenSSL
import XMPPCore

@testable import XMPPTransport

extension FuzzTarget {
    /// A domain on the first line, then a letter for the kind of name and the name that a certificate presents: what
    /// proves the domain, by rules that are reckoned here anew (RFC 6120 §13.7.1.2.1).
    static let identity = FuzzTarget(
        name: "identity",
        seeds: {
            FuzzVectors.rows("certnames.tsv").flatMap { row in
                row[2].split(separator: UInt8(ascii: ";")).map { name in
                    // "DNS:a" becomes "Da", "XMPP:a" becomes "Xa".
                    row[0] + [0x0A] + name.prefix(1) + name.drop { $0 != UInt8(ascii: ":") }.dropFirst()
                }
            }
                + ["[::1]\nA\u{0}", "127.0.0.1\nA\u{7F}\u{0}\u{0}\u{1}", "b\u{FC}cher.example\nXB\u{DC}CHER.example"]
                .map { Array($0.utf8) }
        }
    ) { bytes in
        let lines = bytes.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
        guard lines.count == 2, let domain = try? JID(utf8: lines[0]), domain.isDomain, let kind = lines[1].first
        else { return }
        let name = Array(lines[1].dropFirst())
        let identity = ReferenceIdentity(domain: domain.asciiDomain, unicodeDomain: domain.domainpart)
        try require(!identity.description.hasControls, "a description that is not fit for a terminal")
        let host = lowercasedASCII(Array(identity.domain.utf8))
        let isAddress = identity.addressBytes != nil
        let lowered = lowercasedASCII(name)
        let presented: PresentedName
        let expected: Bool
        switch kind {
        case UInt8(ascii: "D"):
            presented = .dns(name)
            expected = !isAddress && [host, wildcard(for: host)].contains(lowered)
        case UInt8(ascii: "S"):
            presented = .service(name)
            expected = !isAddress && lowered == Array("_xmpp-client.".utf8) + host
        case UInt8(ascii: "X"):
            presented = .xmppAddress(name)
            expected = try isSameDomain(name, as: domain, proven: identity.isProven(by: presented))
        case UInt8(ascii: "A"):
            presented = .address(name)
            expected = name == identity.addressBytes
        default:
            presented = .other("URI")
            expected = false
        }
        try require(identity.isProven(by: presented) == expected, "\(presented) for \(identity): not \(expected)")
        try require(!presented.description.hasControls, "a name that is not fit for a terminal")
    }

    /// `*` in place of the leftmost label, where two labels are left.
    private static func wildcard(for host: [UInt8]) -> [UInt8]? {
        guard let dot = host.firstIndex(of: UInt8(ascii: ".")), host[(dot + 1)...].contains(UInt8(ascii: ".")) else {
            return nil
        }
        return [UInt8(ascii: "*")] + host[dot...]
    }

    private static func lowercasedASCII(_ bytes: [UInt8]) -> [UInt8] {
        bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    }

    /// An XmppAddr that proves a domain is, as a JID, that domain. The reverse need not hold: it may be refused.
    private static func isSameDomain(_ name: [UInt8], as domain: JID, proven: Bool) throws -> Bool {
        guard proven else { return false }
        let presented = try mustNotThrow("an XmppAddr that is no JID proves \(domain)") { try JID(utf8: name) }
        try require(presented == domain, "\(presented) proves \(domain)")
        return true
    }

    /// A certificate, DER: everything that is shown of it is bounded and fit for a terminal.
    static let certificate = FuzzTarget(
        name: "certificate",
        seeds: {
            let names = FuzzVectors.rows("certnames.tsv").map { SeedCertificate.der(presenting: $0[2]) }
            return names + [SeedCertificate.der(presenting: Array("DNS:a\u{1B}[2J;XMPP:b\u{202E}c;IP:127.0.0.1".utf8))]
        }
    ) { bytes in
        guard let certificate = read(bytes) else { return }
        try require(certificate.names.count <= CertificateReader.maximumNames, "\(certificate.names.count) names")
        try require(certificate.fingerprint.count == 32, "a fingerprint of \(certificate.fingerprint.count) bytes")
        let texts = [certificate.subject, certificate.issuer, certificate.notBefore, certificate.notAfter]
        for text in texts + certificate.names.map(\.description) {
            try require(!text.hasControls, "“\(text)” is not fit for a terminal")
            try require(text.unicodeScalars.count <= 10 * 256, "a text of \(text.unicodeScalars.count) characters")
        }
        try require(!certificate.subject.isEmpty && !certificate.issuer.isEmpty, "nobody's certificate")
        let identity = ReferenceIdentity(domain: "im.example.com")
        let proof = certificate.names.first(where: identity.isProven)
        let isOdd = proof?.description.contains("\u{FFFD}") ?? false
        try require(!isOdd, "a name with a NUL, or something else that is no letter, proves a domain")
        guard let again = read(certificate.der) else { return }
        try require(again.names == certificate.names, "other names when it is read again")
    }

    private static func read(_ der: [UInt8]) -> TLSCertificate? {
        der.withUnsafeBufferPointer { buffer in
            var position = buffer.baseAddress
            guard let handle = d2i_X509(nil, &position, buffer.count) else {
                ERR_clear_error()
                return nil
            }
            let owner = X509Handle(owning: handle)
            _ = CertificateReader.serverEndPoint(owner.handle)
            return CertificateReader.certificate(owner.handle)
        }
    }
}
