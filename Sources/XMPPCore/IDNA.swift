// SPDX-License-Identifier: Apache-2.0

internal import CIDN2
internal import Glibc

// The only file that calls libidn2.

/// Domain names with international labels (IDNA2008: RFC 5890, RFC 5891), and the addresses that may stand for a name.
enum IDNA {
    /// The prepared form of a domainpart without trailing dot: lower-case U-labels, or an address as it is.
    ///
    /// - Throws: the reason why it is no domainpart (RFC 7622 §3.2).
    static func prepare(_ name: String) throws(JIDError.Reason) -> String {
        guard !name.isEmpty else { throw .empty }
        if name.utf8.first == UInt8(ascii: "[") { return try addressLiteral(name) }
        // No mapping makes text shorter than a quarter, and no label's A-label is shorter than half of the U-label.
        guard name.utf8.count <= 4 * JID.maximumPartLength else { throw .tooLong }
        // Labels are cut at U+002E alone, before mapping: other full stops do not separate here.
        var unicode: [String] = []
        var asciiLength = -1
        for label in name.unicodeScalars.split(separator: ".", omittingEmptySubsequences: false) {
            let prepared = try prepareLabel(String(label))
            unicode.append(prepared.unicode)
            asciiLength += prepared.ascii.utf8.count + 1
            guard asciiLength <= JID.maximumNameLength else { throw .tooLong }
        }
        let joined = unicode.joined(separator: ".")
        guard joined.utf8.count <= JID.maximumPartLength else { throw .tooLong }
        return joined
    }

    /// The prepared domainpart with A-labels in place of U-labels.
    static func ascii(_ prepared: String) -> String {
        if prepared.utf8.allSatisfy({ $0 < 0x80 }) { return prepared }
        let labels = prepared.unicodeScalars.split(separator: ".", omittingEmptySubsequences: false)
        // A prepared label has an A-label: it was made when the label was checked.
        return labels.map { label in
            label.allSatisfy(\.isASCII) ? String(label) : (try? asciiLabel(String(label))) ?? String(label)
        }.joined(separator: ".")
    }

    private static func prepareLabel(_ label: String) throws(JIDError.Reason) -> (unicode: String, ascii: String) {
        guard !label.isEmpty else { throw .label(label) }
        let mapped = map(label)
        // What is left of ASCII after mapping must be a letter, a digit or a hyphen (RFC 5890 §2.3.1). U+0000 ends
        // here.
        let wrong = mapped.unicodeScalars.first { scalar in
            switch scalar.value {
            case 0x61...0x7A, 0x30...0x39, 0x2D: false
            default: scalar.isASCII
            }
        }
        if let wrong { throw .disallowed(wrong) }
        guard mapped.unicodeScalars.allSatisfy(\.isASCII) else {
            return (mapped, try asciiLabel(mapped))
        }
        guard mapped.utf8.count <= JID.maximumLabelLength else { throw .tooLong }
        guard mapped.utf8.first != UInt8(ascii: "-"), mapped.utf8.last != UInt8(ascii: "-") else { throw .label(label) }
        guard mapped.utf8.dropFirst(2).starts(with: "--".utf8) else { return (mapped, mapped) }
        // Hyphens in third and fourth place are for A-labels alone, and these must be true ones (RFC 5891 §5.4).
        guard mapped.hasPrefix("xn--"), let decoded = unicodeLabel(mapped) else { throw .label(label) }
        guard try asciiLabel(decoded) == mapped else { throw .label(label) }
        return (decoded, mapped)
    }

    /// Width mapping, lower case and NFC (RFC 7622 §3.2.2, RFC 5895 §2).
    private static func map(_ label: String) -> String {
        if label.unicodeScalars.allSatisfy(\.isASCII) { return label.lowercased() }
        return PRECIS.normalize(PRECIS.lowercase(String(label.unicodeScalars.map(\.widthMapped))))
    }

    /// The A-label of a U-label, which must satisfy IDNA2008 to the letter, contextual rules included.
    private static func asciiLabel(_ label: String) throws(JIDError.Reason) -> String {
        do {
            let scalars = Array(label.unicodeScalars)
            try PRECIS.checkContexts(scalars)
            // libidn2 lets European and Arabic digits stand in one right-to-left label, against RFC 5893 §2, condition
            // 4.
            try PRECIS.checkDirection(scalars)
        } catch {
            throw .init(error)
        }
        // Registration, and not lookup, checks every rule of RFC 5891 §4.2; nothing is mapped (`idn2_register_u8`).
        var output: UnsafeMutablePointer<UInt8>?
        let code = label.withCString { text in
            text.withMemoryRebound(to: UInt8.self, capacity: label.utf8.count + 1) { octets in
                idn2_register_u8(octets, nil, &output, CInt(IDN2_NO_TR46.rawValue))
            }
        }
        defer { idn2_free(output) }
        switch (code, output) {
        case (CInt(IDN2_OK.rawValue), let output?): return String(cString: output)
        case (CInt(IDN2_TOO_BIG_LABEL.rawValue), _), (CInt(IDN2_TOO_BIG_DOMAIN.rawValue), _),
            (CInt(IDN2_PUNYCODE_BIG_OUTPUT.rawValue), _):
            throw .tooLong
        case (CInt(IDN2_BIDI.rawValue), _): throw .bidirectional
        default:
            // libidn2 does not say which character it refuses.
            if let scalar = label.unicodeScalars.first(where: { PRECIS.derived($0) == .disallowed }) {
                throw .disallowed(scalar)
            }
            throw .label(label)
        }
    }

    /// The U-label that an A-label stands for, `nil` when it stands for none (`idn2_to_unicode_8z8z`).
    private static func unicodeLabel(_ label: String) -> String? {
        var output: UnsafeMutablePointer<CChar>?
        guard idn2_to_unicode_8z8z(label, &output, 0) == CInt(IDN2_OK.rawValue), let output else { return nil }
        defer { idn2_free(output) }
        guard let decoded = String(validatingCString: output), !decoded.unicodeScalars.allSatisfy(\.isASCII) else {
            return nil
        }
        return decoded
    }

    /// An IPv6 address in brackets, in lower case (RFC 7622 §3.2, RFC 3986 §3.2.2).
    private static func addressLiteral(_ name: String) throws(JIDError.Reason) -> String {
        guard name.utf8.last == UInt8(ascii: "]"), name.utf8.count <= Int(INET6_ADDRSTRLEN) + 2 else {
            throw .addressLiteral
        }
        // Octets, not characters: a joiner behind the bracket is one character with it, and would be dropped unseen.
        let address = String(decoding: name.utf8.dropFirst().dropLast(), as: UTF8.self)
        let plain = address.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        var binary = in6_addr()
        guard plain, inet_pton(AF_INET6, address, &binary) == 1 else { throw .addressLiteral }
        return name.lowercased()
    }
}
