// SPDX-License-Identifier: Apache-2.0

/// Reads JSON (RFC 8259), or the JSON5 that people write into configuration files.
///
/// Refused beyond the grammar: nesting deeper than ``maximumDepth``, a key twice in an object, text that is not UTF-8,
/// half a surrogate pair and numbers too large for a `Double`.
package struct JSONReader {
    /// Which language is read.
    package enum Dialect: Sendable {
        /// RFC 8259.
        case strict
        /// With comments, trailing commas, bare keys, single quotes, hexadecimal numbers and line continuations.
        case json5
    }

    /// How deep lists and objects may nest: 64.
    package static let maximumDepth = 64

    let bytes: [UInt8]
    let dialect: Dialect
    var position = 0
    var depth = 0

    /// Reads one document, with nothing but white space around it.
    ///
    /// - Throws: `JSONError` with the place of the first fault.
    package static func read(_ bytes: some Sequence<UInt8>, as dialect: Dialect = .strict) throws(JSONError)
        -> JSONValue
    {
        var reader = JSONReader(bytes: Array(bytes), dialect: dialect)
        let value = try reader.value()
        try reader.skipSpace()
        guard reader.position == reader.bytes.count else {
            throw reader.error("something follows the end of the document")
        }
        return value
    }

    var next: UInt8? {
        position < bytes.count ? bytes[position] : nil
    }

    var isJSON5: Bool {
        dialect == .json5
    }

    /// An error at the reader's place, or at an earlier one.
    func error(_ reason: String, at place: Int? = nil) -> JSONError {
        let before = bytes[..<min(place ?? position, bytes.count)]
        let line = before.reduce(1) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return JSONError(reason: reason, line: line, column: before.count - start + 1)
    }

    /// Takes the byte when it comes next.
    mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    /// Takes the word when it comes next.
    mutating func take(word: StaticString) -> Bool {
        let end = position + word.utf8CodeUnitCount
        let matches = word.withUTF8Buffer { end <= bytes.count && bytes[position..<end].elementsEqual($0) }
        if matches { position = end }
        return matches
    }

    mutating func value() throws(JSONError) -> JSONValue {
        try skipSpace()
        switch next {
        case nil:
            throw error("the text ends where a value is expected")
        case UInt8(ascii: "{"):
            return try object()
        case UInt8(ascii: "["):
            return try array()
        case UInt8(ascii: "\""):
            return .string(try string())
        case UInt8(ascii: "'") where isJSON5:
            return .string(try string())
        default:
            if take(word: "true") { return true }
            if take(word: "false") { return false }
            if take(word: "null") { return nil }
            return try number()
        }
    }

    private mutating func enter() throws(JSONError) {
        guard depth < Self.maximumDepth else { throw error("nested deeper than \(Self.maximumDepth) levels") }
        depth += 1
        position += 1
    }

    private mutating func array() throws(JSONError) -> JSONValue {
        try enter()
        var elements: [JSONValue] = []
        while true {
            try skipSpace()
            if (elements.isEmpty || isJSON5) && take(UInt8(ascii: "]")) { break }
            elements.append(try value())
            try skipSpace()
            if take(UInt8(ascii: ",")) { continue }
            guard take(UInt8(ascii: "]")) else { throw error("\",\" or \"]\" expected") }
            break
        }
        depth -= 1
        return .array(elements)
    }

    private mutating func object() throws(JSONError) -> JSONValue {
        let start = position
        try enter()
        var entries: [JSONObject.Entry] = []
        while true {
            try skipSpace()
            if (entries.isEmpty || isJSON5) && take(UInt8(ascii: "}")) { break }
            let key = try self.key()
            try skipSpace()
            guard take(UInt8(ascii: ":")) else { throw error("\":\" expected") }
            entries.append(JSONObject.Entry(key: key, value: try value()))
            try skipSpace()
            if take(UInt8(ascii: ",")) { continue }
            guard take(UInt8(ascii: "}")) else { throw error("\",\" or \"}\" expected") }
            break
        }
        depth -= 1
        // RFC 8259 §4: names should be unique. Two readers that choose differently see two documents: refuse.
        guard Set(entries.lazy.map(\.key)).count == entries.count else {
            throw error("an object has the same key twice", at: start)
        }
        return .object(JSONObject(unique: entries))
    }

    mutating func key() throws(JSONError) -> String {
        if next == UInt8(ascii: "\"") || (isJSON5 && next == UInt8(ascii: "'")) { return try string() }
        guard isJSON5 else { throw error("a key in double quotes expected") }
        let start = position
        while let byte = next, isIdentifier(byte, first: position == start) { position += 1 }
        guard position > start else { throw error("a key expected") }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private func isIdentifier(_ byte: UInt8, first: Bool) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "_"), UInt8(ascii: "$"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): !first
        default: false
        }
    }
}
