// SPDX-License-Identifier: Apache-2.0

extension JSONReader {
    /// Skips white space, and comments in JSON5.
    mutating func skipSpace() throws(JSONError) {
        while let byte = next {
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                position += 1
            case UInt8(ascii: "/") where isJSON5:
                try skipComment()
            case 0x0B, 0x0C:
                guard isJSON5 else { return }
                position += 1
            case 0xEF where isJSON5 && bytes[position...].starts(with: [0xEF, 0xBB, 0xBF]):
                position += 3
            default:
                return
            }
        }
    }

    private mutating func skipComment() throws(JSONError) {
        let start = position
        position += 1
        if take(UInt8(ascii: "/")) {
            while let byte = next, byte != UInt8(ascii: "\n") { position += 1 }
            return
        }
        guard take(UInt8(ascii: "*")) else { throw error("a comment begins with \"//\" or \"/*\"", at: start) }
        while next != nil {
            if take(word: "*/") { return }
            position += 1
        }
        throw error("the comment has no end", at: start)
    }
}
