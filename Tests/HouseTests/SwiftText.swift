// SPDX-License-Identifier: Apache-2.0

/// The text of a Swift file with its comments and string literals blanked out, so that a rule about code does not
/// trip over prose. Newlines stay where they are: line numbers are those of the file. Code inside a string's
/// interpolation stays visible.
struct SwiftText: Sendable {
    /// One line for each line of the file, without comments and strings.
    let code: [Substring]
    /// The lines as written.
    let lines: [Substring]

    init(_ text: String) {
        var blanker = Blanker(Array(text.utf8))
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        code = blanker.run().split(separator: "\n", omittingEmptySubsequences: false)
    }
}

/// Walks over source text once, copying code and replacing everything else by spaces.
private struct Blanker {
    private let input: [UInt8]
    private var position = 0
    private var output: [UInt8] = []

    init(_ input: [UInt8]) {
        self.input = input
        output.reserveCapacity(input.count)
    }

    mutating func run() -> String {
        code(untilClosingParenthesis: false)
        return String(decoding: output, as: UTF8.self)
    }

    private func starts(_ word: StaticString, at offset: Int = 0) -> Bool {
        let length = word.utf8CodeUnitCount
        guard position + offset + length <= input.count else { return false }
        for index in 0..<length where input[position + offset + index] != word.utf8Start[index] { return false }
        return true
    }

    private func starts(_ word: [UInt8]) -> Bool { input[position...].starts(with: word) }

    private var isNewline: Bool { input[position] == UInt8(ascii: "\n") }

    private mutating func copy(_ count: Int = 1) {
        for _ in 0..<count where position < input.count {
            output.append(input[position])
            position += 1
        }
    }

    private mutating func blank(_ count: Int = 1) {
        for _ in 0..<count where position < input.count {
            output.append(isNewline ? input[position] : UInt8(ascii: " "))
            position += 1
        }
    }

    private mutating func code(untilClosingParenthesis inner: Bool) {
        var depth = 0
        while position < input.count {
            // Nearly every byte is none of these; tests are built without optimisation.
            let byte = input[position]
            guard byte == 0x2F || byte == 0x22 || byte == 0x23 || byte == 0x28 || byte == 0x29 else {
                output.append(byte)
                position += 1
                continue
            }
            if starts("//") {
                while position < input.count, !isNewline { position += 1 }
            } else if starts("/*") {
                comment()
            } else if let hashes = hashesBeforeQuote() {
                string(hashes: hashes)
            } else {
                if starts("(") { depth += 1 }
                if starts(")") {
                    if inner, depth == 0 { return }
                    depth -= 1
                }
                copy()
            }
        }
    }

    /// Swift's block comments nest.
    private mutating func comment() {
        var depth = 0
        repeat {
            if starts("/*") {
                depth += 1
                blank(2)
            } else if starts("*/") {
                depth -= 1
                blank(2)
            } else {
                blank()
            }
        } while depth > 0 && position < input.count
    }

    private func hashesBeforeQuote() -> Int? {
        var count = 0
        while position + count < input.count, input[position + count] == UInt8(ascii: "#") { count += 1 }
        return starts("\"", at: count) ? count : nil
    }

    private mutating func string(hashes: Int) {
        let fence = [UInt8](repeating: UInt8(ascii: "#"), count: hashes)
        blank(hashes)
        let quote = [UInt8](repeating: UInt8(ascii: "\""), count: starts("\"\"\"") ? 3 : 1)
        blank(quote.count)
        let close = quote + fence
        let escape = [UInt8(ascii: "\\")] + fence
        while position < input.count {
            if starts(close) {
                blank(close.count)
                return
            }
            if starts(escape + [UInt8(ascii: "(")]) {
                blank(escape.count + 1)
                code(untilClosingParenthesis: true)
                blank()
            } else if starts(escape) {
                blank(escape.count + 1)
            } else {
                blank()
            }
        }
    }
}
