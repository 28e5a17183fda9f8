// SPDX-License-Identifier: Apache-2.0

/// Preparation and comparison of internationalised strings: the two profiles that XMPP uses (RFC 8264, RFC 8265).
package enum PRECIS {
    /// How often the rules may be applied until the string no longer changes: once, and three times again (RFC 8264
    /// §7).
    private static let maximumPasses = 4

    /// The UsernameCaseMapped profile, for localparts and user names: width-mapped, lower-case, NFC (RFC 8265 §3.3).
    ///
    /// - Throws: ``PRECISError`` when the string is empty or breaks a rule of the profile.
    package static func usernameCaseMapped(_ string: String) throws(PRECISError) -> String {
        guard !string.isEmpty else { throw .empty }
        if let mapped = try asciiUsername(string) { return mapped }
        return try stable(string) { (text) throws(PRECISError) in
            // Preparation looks at the characters before case mapping could hide one (RFC 8265 §3.3.1), but not before
            // NFC: text that is canonically equivalent is the same text, and keyboards type both forms.
            let prepared = normalize(String(text.unicodeScalars.map(\.widthMapped)))
            try checkMembership(Array(prepared.unicodeScalars), in: .identifier)
            let mapped = normalize(lowercase(prepared))
            let scalars = Array(mapped.unicodeScalars)
            try checkMembership(scalars, in: .identifier)
            try checkContexts(scalars)
            try checkDirection(scalars)
            return mapped
        }
    }

    /// The OpaqueString profile, for resourceparts and passwords: other spaces become U+0020, then NFC (RFC 8265 §4.2).
    ///
    /// - Throws: ``PRECISError`` when the string is empty or breaks a rule of the profile.
    package static func opaqueString(_ string: String) throws(PRECISError) -> String {
        guard !string.isEmpty else { throw .empty }
        if let control = string.utf8.first(where: { !(0x20...0x7E).contains($0) }) {
            if control < 0x80 { throw .disallowed(Unicode.Scalar(control)) }
        } else {
            return string
        }
        return try stable(string) { (text) throws(PRECISError) in
            let spaced = text.unicodeScalars.map { $0.isSpaceSeparator ? " " : $0 }
            let mapped = normalize(String(spaced))
            let result = Array(mapped.unicodeScalars)
            try checkMembership(result, in: .freeform)
            try checkContexts(result)
            return mapped
        }
    }

    /// The profile for a string of ASCII alone, which needs only its capitals mapped; `nil` when there is other text.
    private static func asciiUsername(_ string: String) throws(PRECISError) -> String? {
        var capital = false
        for byte in string.utf8 {
            if byte >= 0x80 { return nil }
            // ASCII7 is U+0021 to U+007E (RFC 8264 §9.11); the space is not part of the IdentifierClass.
            guard (0x21...0x7E).contains(byte) else { throw .disallowed(Unicode.Scalar(byte)) }
            capital = capital || (0x41...0x5A).contains(byte)
        }
        return capital ? string.lowercased() : string
    }

    /// Applies the rules until they change nothing, so that preparing a prepared string is the identity (RFC 8264 §7).
    private static func stable(
        _ string: String, _ rules: (String) throws(PRECISError) -> String
    ) throws(PRECISError) -> String {
        var current = string
        for _ in 0..<maximumPasses {
            let next = try rules(current)
            guard !next.isEmpty else { throw .empty }
            if next.utf8.elementsEqual(current.utf8) { return next }
            current = next
        }
        throw .unstable
    }
}
