// SPDX-License-Identifier: Apache-2.0

extension JID {
    /// The long way: every part through its profile, whatever it looks like.
    init(preparing string: String) throws(JIDError) {
        // Separators are found before anything is mapped: a fullwidth `@` is no `@` (RFC 7622 §3.1).
        let slash = string.utf8.firstIndex(of: UInt8(ascii: "/"))
        let account = string[..<(slash ?? string.endIndex)]
        let at = account.utf8.firstIndex(of: UInt8(ascii: "@"))
        let domain = at.map { account[account.utf8.index(after: $0)...] } ?? account

        var local: String?
        if let at { local = try Self.prepare(localpart: String(account[..<at]), of: string) }
        let prepared = try Self.prepare(domainpart: String(domain), of: string)
        var resource: String?
        if let slash {
            resource = try Self.prepare(resourcepart: String(string[string.utf8.index(after: slash)...]), of: string)
        }
        self.init(preparedLocalpart: local, domainpart: prepared, resourcepart: resource)
    }

    /// The localpart after the UsernameCaseMapped profile, without the characters of RFC 7622 §3.3.1.
    static func prepare(localpart: String, of input: String? = nil) throws(JIDError) -> String {
        try prepare(localpart, .localpart, input ?? localpart) { (text) throws(PRECISError) in
            let mapped = try PRECIS.usernameCaseMapped(text)
            // Looked at after mapping: a fullwidth `@` becomes an `@` that would be read as a separator later.
            let excluded = mapped.unicodeScalars.first { "\"&'/:<>@".unicodeScalars.contains($0) }
            if let excluded { throw .disallowed(excluded) }
            return mapped
        }
    }

    /// The resourcepart after the OpaqueString profile (RFC 7622 §3.4).
    static func prepare(resourcepart: String, of input: String? = nil) throws(JIDError) -> String {
        try prepare(resourcepart, .resourcepart, input ?? resourcepart, PRECIS.opaqueString)
    }

    /// The domainpart as U-labels or an address, without one trailing dot (RFC 7622 §3.2).
    static func prepare(domainpart: String, of input: String? = nil) throws(JIDError) -> String {
        var name = domainpart[...]
        // Before anything else, a final dot, which only says that the name is complete, is taken off (§3.2).
        if name.utf8.last == UInt8(ascii: ".") { name = name.dropLast() }
        do throws(JIDError.Reason) {
            let prepared = try IDNA.prepare(String(name))
            // A domain that cannot be read back as it stands is no stable form: libidn2's tables fold some letters,
            // such as the capitals of Cherokee, into ones that it then does not take.
            guard prepared.utf8.allSatisfy({ $0 < 0x80 }) || (try? IDNA.prepare(prepared)) == prepared else {
                throw .unstable
            }
            return prepared
        } catch {
            throw JIDError(part: .domainpart, reason: error, input: input ?? domainpart)
        }
    }

    /// Runs a profile between the two length checks that all parts share.
    private static func prepare(
        _ text: String, _ part: JIDError.Part, _ input: String, _ profile: (String) throws(PRECISError) -> String
    ) throws(JIDError) -> String {
        // No mapping makes text shorter than a quarter: longer text cannot end within the limit, so it costs no work.
        guard text.utf8.count <= 4 * maximumPartLength else {
            throw JIDError(part: part, reason: .tooLong, input: input)
        }
        let prepared: String
        do {
            prepared = try profile(text)
        } catch {
            throw JIDError(part: part, reason: JIDError.Reason(error), input: input)
        }
        // The limit counts octets, after preparation (§3.3, §3.4).
        guard prepared.utf8.count <= maximumPartLength else {
            throw JIDError(part: part, reason: .tooLong, input: input)
        }
        return prepared
    }
}

extension JIDError.Reason {
    /// The same fault in the words of a JID.
    init(_ error: PRECISError) {
        self =
            switch error {
            case .empty: .empty
            case .disallowed(let scalar): .disallowed(scalar)
            case .context(let scalar): .misplaced(scalar)
            case .bidirectional: .bidirectional
            case .unstable: .unstable
            }
    }
}

extension JIDError {
    /// The error for octets that are not UTF-8, naming the part in which the first wrong one stands.
    static func notUTF8(_ octets: some Collection<UInt8>) -> JIDError {
        let slash = octets.firstIndex(of: UInt8(ascii: "/")) ?? octets.endIndex
        let account = octets[..<slash]
        let domain = account.firstIndex(of: UInt8(ascii: "@")).map { account[octets.index(after: $0)...] } ?? account
        let part: Part =
            if String(validating: octets[..<domain.startIndex], as: UTF8.self) == nil {
                .localpart
            } else if String(validating: domain, as: UTF8.self) == nil {
                .domainpart
            } else {
                .resourcepart
            }
        return JIDError(part: part, reason: .notUTF8, input: String(decoding: octets, as: UTF8.self))
    }
}
