// SPDX-License-Identifier: Apache-2.0

/// Why a string is not a JID: which part is wrong, and how (RFC 7622).
public struct JIDError: Error, Hashable, Sendable {
    /// The parts of a JID (RFC 7622 §3.1).
    public enum Part: String, Hashable, Sendable {
        /// What stands before the `@`: usually an account.
        case localpart
        /// The server, or another entity that the network knows by a domain name.
        case domainpart
        /// What stands after the `/`: one connected client of an account, or an occupant of a room.
        case resourcepart
    }

    /// What is wrong with the part.
    public enum Reason: Error, Hashable, Sendable {
        /// The part is there but empty; or it is the domainpart, which no JID can do without.
        case empty
        /// Longer, after preparation, than 1023 octets of UTF-8, or than the DNS allows for a label or a name.
        case tooLong
        /// The character is not allowed in this part.
        case disallowed(Unicode.Scalar)
        /// The character is allowed only beside certain others (RFC 5892 appendix A).
        case misplaced(Unicode.Scalar)
        /// Left-to-right and right-to-left text are mixed in a way that could deceive a reader (RFC 5893 §2).
        case bidirectional
        /// This label of the domain name breaks a rule of the DNS or of IDNA2008 that no single character names.
        case label(String)
        /// Brackets that hold no IPv6 address.
        case addressLiteral
        /// The octets are not UTF-8.
        case notUTF8
        /// The rules of preparation do not come to rest on this string (RFC 8264 §7).
        case unstable
    }

    /// The part that is wrong.
    public let part: Part
    /// What is wrong with it.
    public let reason: Reason
    /// The whole string that was to be a JID, or the one part when parts were given.
    public let input: String

    /// Makes an error.
    package init(part: Part, reason: Reason, input: String) {
        self.part = part
        self.reason = reason
        self.input = input
    }
}

extension JIDError: CustomStringConvertible {
    /// A sentence for people, safe to print:
    /// `localpart of "foo bar@example.org" contains U+0020, which is not allowed`.
    public var description: String {
        let what = "\(part.rawValue) of \"\(Self.printable(input))\""
        switch reason {
        case .empty: return "\(what) is empty"
        case .tooLong: return "\(what) is too long"
        case .disallowed(let scalar): return "\(what) contains \(Self.name(scalar)), which is not allowed"
        case .misplaced(let scalar): return "\(what) contains \(Self.name(scalar)) where it is not allowed"
        case .bidirectional: return "\(what) mixes left-to-right and right-to-left text"
        case .label(let label):
            return "\(what) has the label \"\(Self.printable(label))\", which no domain name can have"
        case .addressLiteral: return "\(what) has brackets without an IPv6 address in them"
        case .notUTF8: return "\(what) is not UTF-8"
        case .unstable: return "\(what) has no stable prepared form"
        }
    }

    /// The number of characters of the input that a description quotes.
    private static let maximumQuoted = 80

    /// The character as Unicode writes it, with itself when it can be seen: `U+0026 "&"`.
    private static func name(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        let code = "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        return (0x21...0x7E).contains(scalar.value) ? "\(code) (\(scalar))" : code
    }

    /// The text cut short, and with everything escaped that a terminal could act upon or a reader could not see.
    private static func printable(_ text: String) -> String {
        let scalars = text.unicodeScalars
        let shown = scalars.prefix(maximumQuoted).map { scalar in
            // U+2028 and U+2029 are neither controls nor invisible by their category: they break lines.
            let visible =
                !scalar.isControl && !scalar.isIgnorable && !scalar.isUnassigned && !scalar.isPrivateUse
                && scalar != "\u{2028}" && scalar != "\u{2029}"
            return visible ? String(scalar) : "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
        }
        return shown.joined() + (scalars.count > maximumQuoted ? "…" : "")
    }
}
