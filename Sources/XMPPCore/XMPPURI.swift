// SPDX-License-Identifier: Apache-2.0

/// An `xmpp:` address of the web: whom it is about, and what is to be done there (RFC 5122, XEP-0147).
///
/// ```swift
/// let uri = XMPPURI("xmpp:romeo@montague.net?roster;name=Romeo")
/// uri?.jid         // romeo@montague.net
/// uri?.action      // .roster
/// uri?["name"]     // "Romeo"
/// ```
///
/// Whoever made it may want anything: nothing that it says is to be done unasked.
public struct XMPPURI: Hashable, Sendable, LosslessStringConvertible {
    /// How many bytes one may have; 64 KiB. A longer one is not read.
    public static let maximumBytes = 65_536
    /// How many parameters one may have; 100. One with more is not read.
    public static let maximumParameters = 100

    /// What is to be done (XEP-0147): an open vocabulary.
    public struct Action: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The word behind the `?`, as it was written.
        public let rawValue: String

        /// Takes a word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The word.
        public var description: String { rawValue }

        /// To enter a room (XEP-0045).
        public static let join = Action(rawValue: "join")
        /// To write a message.
        public static let message = Action(rawValue: "message")
        /// To register with a server or a service (XEP-0077).
        public static let register = Action(rawValue: "register")
        /// To take somebody as a contact.
        public static let roster = Action(rawValue: "roster")
        /// To ask for somebody's presence.
        public static let subscribe = Action(rawValue: "subscribe")
        /// To give a registration up (XEP-0077).
        public static let unregister = Action(rawValue: "unregister")
    }

    /// A key and its value, decoded.
    public struct Parameter: Hashable, Sendable {
        /// The key.
        public var key: String
        /// The value; empty where none was written.
        public var value: String

        /// Makes a parameter.
        public init(_ key: String, _ value: String) {
            self.key = key
            self.value = value
        }
    }

    /// As whom to do it (RFC 5122 §2.3); `nil` where that is left to the user.
    public var account: JID?
    /// Whom it is about; `nil` only where ``account`` is all that is said.
    public var jid: JID?
    /// What is to be done; `nil` for nothing in particular.
    public var action: Action?
    /// How, in the order in which it was written. The same key may come twice.
    public var parameters: [Parameter]

    /// Makes an address.
    public init(_ jid: JID, _ action: Action? = nil, _ parameters: [Parameter] = []) {
        self.jid = jid
        self.action = action
        self.parameters = parameters
    }

    /// The value of a key: of the first one, where there are more.
    public subscript(key: String) -> String? {
        parameters.first { $0.key == key }?.value
    }

    /// Reads an address; `nil` when it is none, when a part of it is no JID, or when it holds bytes that are no text.
    ///
    /// Percent signs are followed by two hexadecimal digits, and what they stand for is UTF-8 that XML can carry. A
    /// separator that is written like that is none: it belongs to the part that it stands in (RFC 5122 §2.7). What
    /// follows a `#` is passed over.
    public init?(_ text: String) {
        guard text.utf8.count <= Self.maximumBytes, text.utf8.count > Self.scheme.utf8.count,
            text.prefix(Self.scheme.count).lowercased() == Self.scheme
        else { return nil }
        var rest = text.utf8.dropFirst(Self.scheme.utf8.count)
        if let hash = rest.firstIndex(of: UInt8(ascii: "#")) { rest = rest[..<hash] }
        parameters = []
        if let mark = rest.firstIndex(of: UInt8(ascii: "?")) {
            guard readQuery(rest[rest.index(after: mark)...]) else { return nil }
            rest = rest[..<mark]
        }
        var path = rest
        if rest.starts(with: [UInt8(ascii: "/"), UInt8(ascii: "/")]) {
            let behind = rest.dropFirst(2)
            let end = behind.firstIndex(of: UInt8(ascii: "/")) ?? behind.endIndex
            // A user and a host, never a resource (RFC 5122 §2.2).
            guard let account = Self.jid(behind[..<end]), account.isBare else { return nil }
            self.account = account
            path = end == behind.endIndex ? behind[end...] : behind[behind.index(after: end)...]
            if path.isEmpty { return }
        }
        guard let jid = Self.jid(path) else { return nil }
        self.jid = jid
    }

    private static let scheme = "xmpp:"

    private mutating func readQuery(_ query: Substring.UTF8View) -> Bool {
        let pieces = query.split(
            separator: UInt8(ascii: ";"), maxSplits: Self.maximumParameters + 1, omittingEmptySubsequences: false)
        guard pieces.count <= Self.maximumParameters + 1, let word = pieces.first.flatMap({ PercentCoding.decode($0) })
        else { return false }
        action = word.isEmpty ? nil : Action(rawValue: word)
        for piece in pieces.dropFirst() where !piece.isEmpty {
            let sign = piece.firstIndex(of: UInt8(ascii: "=")) ?? piece.endIndex
            guard let key = PercentCoding.decode(piece[..<sign]), !key.isEmpty,
                let value = PercentCoding.decode(piece[sign...].dropFirst())
            else { return false }
            parameters.append(Parameter(key, value))
        }
        return true
    }

    /// Reads a path. Its separators are looked for before anything is decoded.
    private static func jid(_ path: Substring.UTF8View) -> JID? {
        let slash = path.firstIndex(of: UInt8(ascii: "/"))
        let address = path[..<(slash ?? path.endIndex)]
        let sign = address.firstIndex(of: UInt8(ascii: "@"))
        let domain = sign.map { address[address.index(after: $0)...] } ?? address
        var parts: [String?] = []
        for part in [sign.map { address[..<$0] }, domain, slash.map { path[path.index(after: $0)...] }] {
            guard let part else {
                parts.append(nil)
                continue
            }
            guard let text = PercentCoding.decode(part) else { return nil }
            parts.append(text)
        }
        guard let domainpart = parts[1] else { return nil }
        return try? JID(localpart: parts[0], domainpart: domainpart, resourcepart: parts[2])
    }

    /// The address, with everything behind a percent sign that could be taken for something else.
    public var description: String {
        var text = Self.scheme
        if let account { text += "//" + Self.path(account) + (jid == nil ? "" : "/") }
        if let jid { text += Self.path(jid) }
        guard action != nil || !parameters.isEmpty else { return text }
        text += "?" + PercentCoding.encode(action?.rawValue ?? "")
        for parameter in parameters {
            text += ";" + PercentCoding.encode(parameter.key) + "=" + PercentCoding.encode(parameter.value)
        }
        return text
    }

    private static func path(_ jid: JID) -> String {
        let local = jid.localpart.map { PercentCoding.encode($0) + "@" } ?? ""
        let resource = jid.resourcepart.map { "/" + PercentCoding.encode($0) } ?? ""
        return local + PercentCoding.encode(jid.domainpart, sparing: "[]:") + resource
    }
}

/// Bytes behind percent signs (RFC 3986 §2.1).
enum PercentCoding {
    /// What stands for itself everywhere (RFC 3986 §2.3), and in the parts of an address (RFC 5122 §2.2).
    private static let plain = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$()*+,".utf8)
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// The text with every other byte behind a percent sign.
    static func encode(_ text: String, sparing others: String = "") -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if plain.contains(byte) || others.utf8.contains(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// What the bytes stand for; `nil` where a percent sign is not followed by two digits, where they are no UTF-8, and
    /// where they are a character that XML lacks.
    static func decode(_ bytes: some Collection<UInt8>) -> String? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var place = bytes.startIndex
        while place != bytes.endIndex {
            let byte = bytes[place]
            bytes.formIndex(after: &place)
            guard byte == UInt8(ascii: "%") else {
                decoded.append(byte)
                continue
            }
            var value: UInt8 = 0
            for _ in 0..<2 {
                guard place != bytes.endIndex, let digit = digit(bytes[place]) else { return nil }
                value = value << 4 | digit
                bytes.formIndex(after: &place)
            }
            decoded.append(value)
        }
        guard let text = String(validating: decoded, as: UTF8.self),
            text.unicodeScalars.allSatisfy(isPlain)
        else { return nil }
        return text
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A, 0x0D: true
        case ..<0x20, 0x7F: false
        default: !scalar.properties.isNoncharacterCodePoint
        }
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
