// SPDX-License-Identifier: Apache-2.0

/// The head of an HTTP/1.1 message (RFC 9112): the start line and the fields before the body.
struct HTTPHead: Sendable, Hashable {
    /// Bytes of a head at most, the empty line at its end included.
    static let maximumBytes = 16_384
    /// Fields of a head at most.
    static let maximumFields = 100

    /// One field: its name in lower case, and its value without the white space around it.
    struct Field: Sendable, Hashable {
        let name: String
        let value: String
    }

    /// `HTTP/1.1 101 Switching Protocols`, or `GET /xmpp HTTP/1.1`.
    let startLine: String
    /// The fields, in order.
    let fields: [Field]

    /// Why bytes are no head.
    enum Fault: Error, Sendable, Hashable {
        case malformed
        case tooLong
    }

    /// Reads a head.
    ///
    /// - Parameter bytes: What has come so far.
    /// - Returns: The head and how many bytes it took; `nil` when it is not complete yet.
    /// - Throws: ``Fault``, as early as it shows.
    static func read(_ bytes: ArraySlice<UInt8>) throws(Fault) -> (head: HTTPHead, count: Int)? {
        var lines: [String] = []
        var start = bytes.startIndex
        while let end = bytes[start...].firstIndex(of: newline) {
            guard end - bytes.startIndex < maximumBytes else { throw Fault.tooLong }
            // RFC 9112 §2.2: a bare line feed ends a line as well.
            let line = bytes[start..<end].last == carriageReturn ? bytes[start..<(end - 1)] : bytes[start..<end]
            start = end + 1
            guard !line.isEmpty else {
                return (try HTTPHead(lines), start - bytes.startIndex)
            }
            lines.append(try text(line))
            guard lines.count <= maximumFields + 1 else { throw Fault.tooLong }
        }
        guard bytes.count < maximumBytes else { throw Fault.tooLong }
        return nil
    }

    private init(_ lines: [String]) throws(Fault) {
        guard let startLine = lines.first else { throw Fault.malformed }
        self.startLine = startLine
        var fields: [Field] = []
        for line in lines.dropFirst() {
            // RFC 9112 §5.1, §5.2: no white space before the colon, and no line that goes on with the one before it.
            guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else { throw Fault.malformed }
            let name = line[..<colon]
            guard !name.isEmpty, name.utf8.allSatisfy(Self.isTokenByte) else { throw Fault.malformed }
            let value = line[line.utf8.index(after: colon)...]
            fields.append(Field(name: name.lowercased(), value: Self.trimmed(value.unicodeScalars)))
        }
        self.fields = fields
    }

    /// The status of an answer: code and reason; `nil` when the start line is not that of an answer in HTTP/1.
    var status: (code: Int, reason: String)? {
        let parts = startLine.unicodeScalars.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
            .map { Substring($0) }
        guard parts.count >= 2, parts[0].hasPrefix("HTTP/1."), parts[1].utf8.count == 3, let code = Int(parts[1]),
            code >= 100
        else { return nil }
        return (code, parts.count > 2 ? String(parts[2]) : "")
    }

    /// What a request asks for; `nil` when the start line is not that of a request in HTTP/1.1.
    var request: (method: String, target: String)? {
        let parts = startLine.unicodeScalars.split(separator: " ", omittingEmptySubsequences: false)
            .map { Substring($0) }
        guard parts.count == 3, parts[2] == "HTTP/1.1", !parts[0].isEmpty, !parts[1].isEmpty else { return nil }
        return (String(parts[0]), String(parts[1]))
    }

    /// The values of a field, in order; `name` in lower case.
    func values(_ name: String) -> [String] {
        fields.lazy.filter { $0.name == name }.map(\.value)
    }

    /// The members of a field that is a list of tokens (RFC 9110 §5.6.1).
    func members(_ name: String) -> [String] {
        values(name).flatMap { $0.unicodeScalars.split(separator: ",").map { Self.trimmed($0) } }.filter { !$0.isEmpty }
    }

    /// Whether a list of tokens has a member, whatever the case of its letters.
    func lists(_ token: String, in name: String) -> Bool {
        members(name).contains { $0.lowercased() == token }
    }

    /// The kind of the body, in lower case and without parameters (RFC 9110 §8.3); `nil` when it is not told, or more
    /// than once.
    var mediaType: String? {
        let values = values("content-type")
        guard values.count == 1 else { return nil }
        let type = Self.trimmed(values[0].unicodeScalars.prefix { $0 != ";" }).lowercased()
        return type.isEmpty ? nil : type
    }

    private static let newline = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    /// A line as text: RFC 9110 §5.5 forbids control characters in it.
    private static func text(_ line: ArraySlice<UInt8>) throws(Fault) -> String {
        guard line.allSatisfy({ $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }),
            let text = String(validating: line, as: UTF8.self)
        else { throw Fault.malformed }
        return text
    }

    private static func trimmed(_ text: Substring.UnicodeScalarView) -> String {
        let isBlank: (Unicode.Scalar) -> Bool = { $0 == " " || $0 == "\t" }
        var text = text.drop(while: isBlank)
        while let last = text.last, isBlank(last) { text.removeLast() }
        return String(text)
    }

    /// RFC 9110 §5.6.2.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
