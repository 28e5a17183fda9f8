// SPDX-License-Identifier: Apache-2.0

/// The text of a Swift file with its comments and string literals blanked out, so that a rule about code does not
/// trip over prose. Newlines stay where they are: line numbers are those of the file. Code inside a string's
/// interpolation stays visible.
struct SwiftText {
    /// One line for each line of the file, without comments and strings.
    let code: [Substring]
    /// The lines as written.
    let lines: [Substring]

    init(_ text: String) {
        var blanker = Blanker(Array(text.unicodeScalars))
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        code = blanker.run().split(separator: "\n", omittingEmptySubsequences: false)
    }
}

/// Walks over source text once, copying code and replacing everything else by spaces.
private struct Blanker {
    private let input: [Unicode.Scalar]
    private var position = 0
    private var output = String.UnicodeScalarView()

    init(_ input: [Unicode.Scalar]) {
        self.input = input
    }

    mutating func run() -> String {
        code(untilClosingParenthesis: false)
        return String(output)
    }

    private func starts(_ word: String, at offset: Int = 0) -> Bool {
        var index = position + offset
        for scalar in word.unicodeScalars {
            guard index < input.count, input[index] == scalar else { return false }
            index += 1
        }
        return true
    }

    private mutating func copy(_ count: Int = 1) {
        for _ in 0..<count where position < input.count {
            output.append(input[position])
            position += 1
        }
    }

    private mutating func blank(_ count: Int = 1) {
        for _ in 0..<count where position < input.count {
            output.append(input[position] == "\n" ? "\n" : " ")
            position += 1
        }
    }

    private mutating func code(untilClosingParenthesis inner: Bool) {
        var depth = 0
        while position < input.count {
            if starts("//") {
                while position < input.count, input[position] != "\n" { blank() }
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
        while position + count < input.count, input[position + count] == "#" { count += 1 }
        return starts("\"", at: count) ? count : nil
    }

    private mutating func string(hashes: Int) {
        let fence = String(repeating: "#", count: hashes)
        blank(hashes)
        let quote = starts("\"\"\"") ? "\"\"\"" : "\""
        blank(quote.count)
        let close = quote + fence
        let escape = "\\" + fence
        while position < input.count {
            if starts(close) {
                blank(close.count)
                return
            }
            if starts(escape + "(") {
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
