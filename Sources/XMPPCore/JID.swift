// SPDX-License-Identifier: Apache-2.0

internal import XMPPXML

/// An address on the XMPP network: `localpart@domainpart/resourcepart` (RFC 7622).
///
/// A JID is valid and prepared from the moment it exists: the localpart and the domainpart are lower-case, all text is
/// in Normalization Form C, an internationalised domain is kept as U-labels. So two JIDs are equal exactly when the
/// octets of their parts are (RFC 7622 §3.2.2, §3.3.2, §3.4.2), and a JID prints as it goes over the wire.
///
/// ```swift
/// let juliet = try JID("Juliet@Example.org/balcony")
/// juliet.localpart     // "juliet"
/// juliet.bare          // juliet@example.org
/// juliet.description   // "juliet@example.org/balcony"
/// ```
///
/// Text that a person types as a name goes through ``escapeLocalpart(_:)`` first when it may hold a space or one of
/// `"&'/:<>@`.
public struct JID: Hashable, Sendable {
    /// The prepared JID. Parts are found by the offsets below, so that equality, hashing and printing need no more.
    let text: String
    /// The UTF-8 offset at which the domainpart begins: 0, or one past the `@`.
    let domainStart: UInt16
    /// The UTF-8 offset at which the domainpart ends: the end, or the offset of the `/`.
    let domainEnd: UInt16

    /// Wraps text that is prepared already.
    ///
    /// Invariant: the offsets come from the same text, so they are ends of characters inside it.
    init(prepared text: String, layout: Layout) {
        self.text = text
        domainStart = layout.domainStart
        domainEnd = layout.domainEnd
    }

    /// Parses and prepares a JID (RFC 7622 §3.1): cut at the first `/`, then at the first `@`, before any mapping.
    ///
    /// Nothing is trimmed and nothing is guessed: a space around the address is an error.
    ///
    /// - Throws: ``JIDError``, naming the part that is wrong.
    public init(_ string: String) throws(JIDError) {
        if let layout = Layout(plain: string) {
            self.init(prepared: string, layout: layout)
        } else {
            try self.init(preparing: string)
        }
    }

    /// Parses and prepares a JID from octets, which must be UTF-8 (RFC 7622 §3.1).
    ///
    /// - Throws: ``JIDError``; its reason is ``JIDError/Reason/notUTF8`` when the octets are not UTF-8.
    public init(utf8 octets: some Collection<UInt8>) throws(JIDError) {
        guard let string = String(validating: octets, as: UTF8.self) else {
            throw JIDError.notUTF8(octets)
        }
        try self.init(string)
    }

    /// Makes a JID of its parts, each prepared by itself: a `/` or `@` in a part is never a separator.
    ///
    /// - Throws: ``JIDError``, naming the part that is wrong.
    public init(localpart: String? = nil, domainpart: String, resourcepart: String? = nil) throws(JIDError) {
        let local: String? = if let localpart { try Self.prepare(localpart: localpart) } else { nil }
        let domain = try Self.prepare(domainpart: domainpart)
        let resource: String? = if let resourcepart { try Self.prepare(resourcepart: resourcepart) } else { nil }
        self.init(preparedLocalpart: local, domainpart: domain, resourcepart: resource)
    }

    /// Puts parts together that are prepared already.
    init(preparedLocalpart local: String?, domainpart domain: String, resourcepart resource: String?) {
        var text = ""
        if let local { text += local + "@" }
        let start = text.utf8.count
        text += domain
        let end = text.utf8.count
        if let resource { text += "/" + resource }
        self.init(prepared: text, layout: Layout(domainStart: UInt16(start), domainEnd: UInt16(end)))
    }
}

extension JID {
    /// The localpart, prepared: usually an account's name. `nil` for a server and other bare domains.
    public var localpart: String? {
        domainStart == 0 ? nil : slice(0..<(Int(domainStart) - 1))
    }

    /// The domainpart, prepared: a domain name with U-labels and no trailing dot, an IPv4 address or `[IPv6]`.
    public var domainpart: String {
        isDomain ? text : slice(Int(domainStart)..<Int(domainEnd))
    }

    /// The resourcepart, prepared: one connected client, or an occupant's nickname in a room. `nil` for a bare JID.
    public var resourcepart: String? {
        isBare ? nil : slice((Int(domainEnd) + 1)..<text.utf8.count)
    }

    /// Whether there is no resourcepart.
    public var isBare: Bool { Int(domainEnd) == text.utf8.count }

    /// Whether there is a resourcepart.
    public var isFull: Bool { !isBare }

    /// Whether there is a domainpart and nothing else.
    public var isDomain: Bool { domainStart == 0 && isBare }

    /// The JID without its resourcepart.
    public var bare: JID {
        isBare
            ? self
            : JID(prepared: slice(0..<Int(domainEnd)), layout: Layout(domainStart: domainStart, domainEnd: domainEnd))
    }

    /// The JID of the domainpart alone: the server of an account.
    public var domain: JID {
        isDomain ? self : JID(preparedLocalpart: nil, domainpart: domainpart, resourcepart: nil)
    }

    /// The domainpart as the DNS, TLS server names and certificates write it: with A-labels (`xn--…`).
    ///
    /// An address stays what it is, an IPv6 address in its brackets. Computed anew on each call for a name that is not
    /// ASCII.
    public var asciiDomain: String { IDNA.ascii(domainpart) }

    /// Whether both belong to one account, room or server: their bare JIDs are equal. No string is made.
    package func hasSameBare(as other: JID) -> Bool {
        guard domainStart == other.domainStart, domainEnd == other.domainEnd else { return false }
        return hasOctets(0..<Int(domainEnd), of: other, at: 0)
    }

    /// Whether this is the domain of another address: its server. No string is made.
    package func isDomain(of other: JID) -> Bool {
        guard isDomain, domainEnd == other.domainEnd - other.domainStart else { return false }
        return hasOctets(0..<Int(domainEnd), of: other, at: Int(other.domainStart))
    }

    /// Hashes what ``hasSameBare(as:)`` compares.
    func hashBare(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 {
            hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer($0)[..<Int(domainEnd)]))
        }
    }

    private func hasOctets(_ range: Range<Int>, of other: JID, at start: Int) -> Bool {
        let areEqual = text.utf8.withContiguousStorageIfAvailable { mine in
            other.text.utf8.withContiguousStorageIfAvailable { theirs in
                UnsafeBufferPointer(rebasing: mine[range]).isEqual(
                    to: UnsafeBufferPointer(rebasing: theirs[start..<(start + range.count)]))
            }
        }
        return (areEqual ?? nil) ?? (slice(range) == other.slice(start..<(start + range.count)))
    }

    /// The same bare JID with another resourcepart.
    ///
    /// - Throws: ``JIDError`` when the resourcepart breaks a rule (RFC 7622 §3.4).
    public func withResource(_ resourcepart: String) throws(JIDError) -> JID {
        let resource = try Self.prepare(resourcepart: resourcepart)
        return JID(
            prepared: slice(0..<Int(domainEnd)) + "/" + resource,
            layout: Layout(domainStart: domainStart, domainEnd: domainEnd)
        )
    }

    /// The text between two UTF-8 offsets that the invariant makes ends of characters.
    private func slice(_ range: Range<Int>) -> String {
        let utf8 = text.utf8
        let start = utf8.index(utf8.startIndex, offsetBy: range.lowerBound)
        let end = utf8.index(start, offsetBy: range.count)
        return String(text[start..<end])
    }
}
