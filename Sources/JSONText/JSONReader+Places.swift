// SPDX-License-Identifier: Apache-2.0

extension JSONReader {
    /// Where things stand in the text of an object, for those who change one of them and leave the rest as it was
    /// written.
    ///
    /// - Parameters:
    ///   - key: A key of the object, which is read as JSON5 up to that key and no further.
    ///   - bytes: The text.
    /// - Returns: Where the object begins (after its brace), and where the key's value and the key's whole entry stand.
    /// - Throws: `JSONError` with the place of the first fault.
    package static func places(
        of key: String, in bytes: [UInt8]
    ) throws(JSONError) -> (start: Int, value: Range<Int>?, entry: Range<Int>?) {
        var reader = JSONReader(bytes: bytes, dialect: .json5)
        try reader.skipSpace()
        guard reader.take(UInt8(ascii: "{")) else { throw reader.error("\"{\" expected") }
        let start = reader.position
        while true {
            try reader.skipSpace()
            if reader.next == UInt8(ascii: "}") { return (start, nil, nil) }
            let entryStart = reader.position
            let name = try reader.key()
            try reader.skipSpace()
            guard reader.take(UInt8(ascii: ":")) else { throw reader.error("\":\" expected") }
            try reader.skipSpace()
            let valueStart = reader.position
            _ = try reader.value()
            let valueEnd = reader.position
            try reader.skipSpace()
            let hasComma = reader.take(UInt8(ascii: ","))
            if name == key {
                return (start, valueStart..<valueEnd, entryStart..<(hasComma ? reader.position : valueEnd))
            }
            if !hasComma { return (start, nil, nil) }
        }
    }
}
