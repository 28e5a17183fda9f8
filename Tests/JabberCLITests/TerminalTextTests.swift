// SPDX-License-Identifier: Apache-2.0

import Foundation
import JabberControl
import Testing
import XMPPTestSupport

@testable import JabberCLI

@Suite("Text for terminals")
struct TerminalTextTests {
    struct Row: CustomTestStringConvertible, Sendable {
        var name: String
        var text: String
        var shown: String
        var testDescription: String { name }
    }

    static let rows: [Row] = ((try? VectorFile.rows("terminal.tsv")) ?? []).map { cells in
        Row(name: cells[0], text: unescaped(cells[1]), shown: unescaped(cells[2]))
    }

    private static func unescaped(_ text: String) -> String {
        var result = text.replacing("{INDENT}", with: TerminalText.indent)
        while let match = result.firstMatch(of: /\{U\+([0-9A-F]+)\}/) {
            let scalar = UInt32(match.1, radix: 16).flatMap(Unicode.Scalar.init) ?? "?"
            result.replaceSubrange(match.range, with: String(scalar))
        }
        return result
    }

    @Test("the vectors are there")
    func vectors() {
        #expect(Self.rows.count == 18)
    }

    @Test("each row of the table of terminal text is shown as it says", arguments: rows)
    func row(_ row: Row) {
        #expect(Array(TerminalText.block(row.text).unicodeScalars) == Array(row.shown.unicodeScalars))
    }

    @Test("no scalar of Unicode gets through that moves the cursor, hides or reorders text")
    func everyScalar() {
        let forbidden: Set<Unicode.GeneralCategory> = [
            .control, .format, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator,
        ]
        for number in 0...UInt32(0x10FFFF) {
            guard let scalar = Unicode.Scalar(number) else { continue }
            let shown = TerminalText.line("a\(scalar)b")
            let isForbidden =
                forbidden.contains(scalar.properties.generalCategory)
                || (scalar.properties.isDefaultIgnorableCodePoint && !(0xFE00...0xFE0F).contains(number))
            let isHidden = !shown.unicodeScalars.contains(scalar)
            if isForbidden != isHidden { Issue.record("U+\(String(number, radix: 16)): \(shown)") }
        }
    }

    @Test("in a line, line feeds and tabs are escaped too")
    func line() {
        #expect(TerminalText.line("a\nb\tc") == #"a\u{a}b\u{9}c"#)
        #expect(TerminalText.line(#"C:\users"#) == #"C:\users"#)
    }

    @Test("joiners stay where a script or an emoji needs them")
    func joiners() {
        #expect(TerminalText.line("می\u{200C}خواهم") == "می\u{200C}خواهم")
        #expect(TerminalText.line("👩\u{200D}💻") == "👩\u{200D}💻")
        #expect(TerminalText.line("pay\u{200D}pal") == #"pay\u{200d}pal"#)
        #expect(TerminalText.line("\u{200C}") == #"\u{200c}"#)
        #expect(TerminalText.line("x\u{E0101}") == #"x\u{e0101}"#)
    }

    @Test("width counts columns; what does not fit ends in an ellipsis")
    func width() {
        #expect(TerminalText.width(of: "abc") == 3 && TerminalText.width(of: "日本") == 4)
        #expect(TerminalText.width(of: "e\u{301}") == 1 && TerminalText.width(of: "🇨🇭") == 4)
        #expect(TerminalText.fit("abcdef", columns: 4) == "abc…" && TerminalText.fit("日本語", columns: 4) == "日…")
        #expect(TerminalText.fit("abc", columns: 3) == "abc" && TerminalText.fit("abc", columns: 0) == "")
    }

    @Test(
        "no text takes more columns than were counted, whatever a terminal joins: it would go on where a line of ours begins",
        arguments: [
            ("👩‍💻", 4), ("👩‍👩‍👧‍👧", 8), ("⚡", 2), ("⌚", 2), ("❤️", 2), ("👍🏽", 4), ("क्षि", 3), ("각", 2), ("〈", 2),
            ("x\u{20DD}", 1),
        ])
    func joined(_ text: String, columns: Int) {
        #expect(TerminalText.width(of: text) == columns)
        #expect(TerminalText.width(of: TerminalText.fit(String(repeating: text, count: 100), columns: 20)) <= 20)
    }
}
