// SPDX-License-Identifier: Apache-2.0

internal import JabberControl

/// Finds what is plainly wrong with an address before it is stored; the daemon prepares it in full (RFC 7622).
struct ShallowAddress: Hashable, Sendable {
    /// The localpart, `@` and domainpart; ASCII letters in lower case.
    let bare: String
    /// The resourcepart.
    let resource: String?

    /// Takes an address apart.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/badJID`` naming the part.
    init(_ text: String) throws(ControlError) {
        // RFC 7622 §3.2: first cut at the first slash, then at the first at sign. By scalars: a resourcepart may begin
        // with a mark that combines with the slash.
        let slash = text.unicodeScalars.firstIndex(of: "/")
        let front = text[..<(slash ?? text.endIndex)]
        resource = slash.map { String(text.unicodeScalars[text.unicodeScalars.index(after: $0)...]) }
        guard let at = front.unicodeScalars.firstIndex(of: "@") else {
            throw ControlError(
                .badJID, "\"\(TerminalText.line(text))\" has no localpart: it must look like you@example.org")
        }
        let local = front[..<at]
        let domain = front[front.unicodeScalars.index(after: at)...]
        try Self.check(local, "localpart", of: text, excluded: "\"&'/:<>@ ")
        try Self.check(domain, "domainpart", of: text, excluded: "@ /<>\"&'")
        if let resource { try Self.check(resource: resource, of: text) }
        bare = Self.lowered(local) + "@" + Self.lowered(domain)
    }

    /// An address of the daemon's as it is, without the resourcepart (RFC 7622 §3.2).
    static func bare(_ address: String) -> String {
        String(address.unicodeScalars.prefix { $0 != "/" })
    }

    /// Refuses what can be no resourcepart (RFC 7622 §3.4).
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/badJID``.
    static func check(resource: String, of text: String? = nil) throws(ControlError) {
        try check(resource[...], "resourcepart", of: text ?? resource, excluded: "")
    }

    /// Refuses a word that could only be the address of a server without a domain: somebody meant a name.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/badJID`` and what an address looks like.
    static func refuseBareWord(_ text: String) throws(ControlError) {
        guard !text.unicodeScalars.contains(where: "@./:".unicodeScalars.contains) else { return }
        let word = TerminalText.line(text)
        throw ControlError(
            .badJID, "\"\(word)\" is no address: it must look like romeo@example.org; see: jabberctl roster list")
    }

    private static func check(
        _ part: Substring, _ name: String, of text: String, excluded: String
    ) throws(ControlError) {
        let whole = TerminalText.line(text)
        guard !part.isEmpty else { throw ControlError(.badJID, "\(name) of \"\(whole)\" is empty") }
        guard part.utf8.count <= 1023 else { throw ControlError(.badJID, "\(name) is longer than 1023 bytes") }
        for scalar in part.unicodeScalars
        where excluded.unicodeScalars.contains(scalar) || isNever(scalar) {
            let code = String(scalar.value, radix: 16, uppercase: true)
            let padded = String(repeating: "0", count: max(0, 4 - code.utf8.count)) + code
            throw ControlError(.badJID, "\(name) of \"\(whole)\" contains U+\(padded), which is not allowed")
        }
    }

    /// Whether neither of the classes of PRECIS allows a character (RFC 8264 §9).
    private static func isNever(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .privateUse, .surrogate, .unassigned, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    private static func lowered(_ part: Substring) -> String {
        part.utf8.allSatisfy { $0 < 0x80 } ? part.lowercased() : String(part)
    }
}
