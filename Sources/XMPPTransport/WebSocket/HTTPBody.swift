// SPDX-License-Identifier: Apache-2.0

/// The body of an answer in HTTP/1.1, as its head frames it (RFC 9112 §6).
struct HTTPBody: Sendable {
    private enum Framing {
        case length(Int)
        case chunked
        case untilEnd
    }

    private let framing: Framing

    /// Reads how the head frames the body.
    ///
    /// - Throws: ``HTTPHead/Fault/malformed`` when it cannot be told.
    init(_ head: HTTPHead) throws(HTTPHead.Fault) {
        let codings = head.members("transfer-encoding")
        let lengths = Set(head.members("content-length"))
        if codings.map({ $0.lowercased() }) == ["chunked"] {
            // RFC 9112 §6.3: a length beside it is not believed.
            framing = .chunked
        } else if !codings.isEmpty {
            throw HTTPHead.Fault.malformed
        } else if let length = lengths.first {
            guard lengths.count == 1, let count = Self.number(length, radix: 10) else { throw HTTPHead.Fault.malformed }
            framing = .length(count)
        } else {
            framing = .untilEnd
        }
    }

    /// The body in what has come behind the head so far.
    ///
    /// - Parameters:
    ///   - bytes: All bytes behind the head.
    ///   - isEnd: Whether nothing more will come.
    /// - Returns: The body; `nil` when it is not complete yet.
    /// - Throws: ``HTTPHead/Fault/malformed`` when it never will be.
    func read(_ bytes: ArraySlice<UInt8>, isEnd: Bool) throws(HTTPHead.Fault) -> [UInt8]? {
        let body: [UInt8]?
        switch framing {
        case .length(let count): body = bytes.count >= count ? Array(bytes.prefix(count)) : nil
        case .chunked: body = try Self.joined(bytes)
        case .untilEnd: body = isEnd ? Array(bytes) : nil
        }
        if body == nil, isEnd { throw HTTPHead.Fault.malformed }
        return body
    }

    /// Joins chunks (RFC 9112 §7.1); what is behind the last one is not waited for.
    private static func joined(_ bytes: ArraySlice<UInt8>) throws(HTTPHead.Fault) -> [UInt8]? {
        var body: [UInt8] = []
        var rest = bytes
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            let line = String(decoding: rest[..<end], as: UTF8.self)
            let size = line.unicodeScalars.prefix { $0 != ";" && $0 != "\r" && $0 != " " }
            guard let count = number(String(size), radix: 16) else { throw HTTPHead.Fault.malformed }
            if count == 0 { return body }
            rest = rest[(end + 1)...]
            guard rest.count > count else { return nil }
            body += rest.prefix(count)
            rest = rest.dropFirst(count)
            if rest.first == UInt8(ascii: "\r") { rest = rest.dropFirst() }
            guard let newline = rest.first else { return nil }
            guard newline == UInt8(ascii: "\n") else { throw HTTPHead.Fault.malformed }
            rest = rest.dropFirst()
        }
        guard rest.count <= 64 else { throw HTTPHead.Fault.malformed }
        return nil
    }

    private static func number(_ text: String, radix: Int) -> Int? {
        guard let first = text.utf8.first, first != UInt8(ascii: "+"), first != UInt8(ascii: "-"), text.utf8.count <= 9
        else { return nil }
        return Int(text, radix: radix)
    }
}
