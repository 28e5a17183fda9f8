// SPDX-License-Identifier: Apache-2.0

extension JSONValue {
    /// The document in one line, in UTF-8, without a line end.
    public func encoded() -> [UInt8] {
        var writer = JSONWriter(isPretty: false)
        writer.write(self)
        return writer.bytes
    }

    /// The document over several lines, indented by two blanks, for files that people read.
    package func encodedPretty() -> [UInt8] {
        var writer = JSONWriter(isPretty: true)
        writer.write(self)
        writer.bytes.append(UInt8(ascii: "\n"))
        return writer.bytes
    }

    /// The document in one line.
    public var text: String {
        String(decoding: encoded(), as: UTF8.self)
    }
}

/// Writes JSON. C0, DEL and C1 characters are escaped, so that a line is a document and a terminal is safe from them.
struct JSONWriter {
    let isPretty: Bool
    var bytes: [UInt8] = []
    private var level = 0

    init(isPretty: Bool) {
        self.isPretty = isPretty
    }

    mutating func write(_ value: JSONValue) {
        switch value {
        case .null: put("null")
        case .bool(let value): put(value ? "true" : "false")
        case .integer(let value): put(String(value))
        case .number(let value): put(value.isFinite ? "\(value)" : "null")
        case .string(let value): write(value)
        case .array(let elements):
            list("[", elements, "]") { $0.write($1) }
        case .object(let object):
            list("{", object.entries, "}") { writer, entry in
                writer.write(entry.key)
                writer.put(writer.isPretty ? ": " : ":")
                writer.write(entry.value)
            }
        }
    }

    private mutating func list<Item>(
        _ open: String, _ items: [Item], _ close: String, _ write: (inout JSONWriter, Item) -> Void
    ) {
        put(open)
        level += 1
        for (index, item) in items.enumerated() {
            if index > 0 { put(",") }
            newLine()
            write(&self, item)
        }
        level -= 1
        if !items.isEmpty { newLine() }
        put(close)
    }

    private mutating func newLine() {
        guard isPretty else { return }
        bytes.append(UInt8(ascii: "\n"))
        bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * level))
    }

    private mutating func put(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    private mutating func write(_ string: String) {
        bytes.append(UInt8(ascii: "\""))
        var isAfterC2 = false
        for byte in string.utf8 {
            // U+0080–U+009F are the two bytes C2 80 … C2 9F.
            if isAfterC2, byte < 0xA0 {
                bytes.removeLast()
                escape(byte)
                isAfterC2 = false
                continue
            }
            isAfterC2 = byte == 0xC2
            switch byte {
            case UInt8(ascii: "\""): put("\\\"")
            case UInt8(ascii: "\\"): put("\\\\")
            case 0x0A: put("\\n")
            case 0x0D: put("\\r")
            case 0x09: put("\\t")
            case 0..<0x20, 0x7F: escape(byte)
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func escape(_ byte: UInt8) {
        let digits = String(byte, radix: 16)
        put("\\u00" + (digits.utf8.count == 1 ? "0" : "") + digits)
    }
}
