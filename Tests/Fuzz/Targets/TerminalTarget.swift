// SPDX-License-Identifier: Apache-2.0

import JabberCLI
import JabberControl
import XMPPTransport

extension FuzzTarget {
    /// Any text on its way to a terminal: nothing in it moves the cursor, hides or reorders, and what is shown can only
    /// mean one text.
    static let terminal = FuzzTarget(
        name: "terminal", seeds: { FuzzVectors.column(1, of: "terminal.tsv") }
    ) { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        let line = TerminalText.line(text)
        try require(!line.hasControls, "a control character in “\(line)”")
        try require(unescaped(line).isIdentical(to: text), "“\(line)” can mean another text")
        let block = TerminalText.block(text)
        let lines = block.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, part) in lines.enumerated() {
            try require(index == 0 || part.utf8.starts(with: TerminalText.indent.utf8), "a line that is not indented")
            let visible = String(String.UnicodeScalarView(part.unicodeScalars.filter { $0 != "\t" }))
            try require(!visible.hasControls, "a control character in the block “\(block)”")
        }
        for columns in [0, 1, 2, 7, 40] {
            let fitted = TerminalText.fit(line, columns: columns)
            let width = TerminalText.width(of: fitted)
            try require(width <= columns, "“\(fitted)” takes \(width) columns of \(columns)")
        }
        let printable = PrintableText.clean(bytes)
        try require(!printable.hasControls, "a control character in the certificate's text “\(printable)”")
        let isHidden = printable.unicodeScalars.contains(where: \.properties.isDefaultIgnorableCodePoint)
        try require(!isHidden, "something invisible in the certificate's text “\(printable)”")
        // What was cleaned below is shown as it is, unless it holds what looks like an escape of the terminal's. Looked
        // for by scalars: with a mark that combines after it, the brace is no character of its own.
        let shown = TerminalText.line(printable)
        let isAsItIs = printable.unicodeScalars.contains("\\u{".unicodeScalars) || shown.isIdentical(to: printable)
        try require(isAsItIs, "“\(printable)” is shown as “\(shown)”")
    }

    /// Puts the characters back that `\u{hex}` stands for.
    private static func unescaped(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            if scalar == "\\", rest.starts(with: "u{".unicodeScalars), let close = rest.firstIndex(of: "}"),
                let value = UInt32(String(rest.dropFirst(2)[..<close]), radix: 16), let named = Unicode.Scalar(value)
            {
                result.append(named)
                rest = rest[rest.index(after: close)...]
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }
}
