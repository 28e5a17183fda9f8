// SPDX-License-Identifier: Apache-2.0

internal import JabberControl

/// The colours that output uses, by meaning.
enum Colour: String, Sendable {
    /// Present.
    case good = "32"
    /// Away.
    case weak = "33"
    /// Do not disturb, failed.
    case bad = "31"
    /// Absent, of less interest.
    case faint = "2"
    /// A heading.
    case strong = "1"

    /// Text in this colour.
    func paint(_ text: String) -> String {
        "\u{1B}[\(rawValue)m\(text)\u{1B}[0m"
    }
}

/// One cell of a table: clean text and its colour.
struct Cell: Sendable {
    var text: String
    var colour: Colour?

    init(_ text: String, _ colour: Colour? = nil) {
        self.text = text
        self.colour = colour
    }
}

/// Columns aligned for a terminal.
struct Table: Sendable {
    let headings: [String]
    let rows: [[Cell]]
    /// Whether text that does not fit into the last column goes on below instead of being cut.
    var wrapsLast = false

    /// The lines of the table, at most `width` columns each; empty columns are left out, and so is a table without
    /// rows.
    func lines(width: Int, isColoured: Bool) -> [String] {
        guard !rows.isEmpty else { return [] }
        let used = headings.indices.filter { column in rows.contains { !($0[column].text.isEmpty) } }
        var widths = used.map { column in
            rows.reduce(TerminalText.width(of: headings[column])) { max($0, TerminalText.width(of: $1[column].text)) }
        }
        // The widest columns give way first, so that short ones stay whole.
        while widths.reduce(0, +) + 2 * max(0, widths.count - 1) > width, let widest = widths.max(), widest > 8 {
            guard let index = widths.lastIndex(of: widest) else { break }
            widths[index] -= 1
        }
        let head = used.map { Cell(headings[$0], .strong) }
        let body = rows.flatMap { row in wrapped(used.map { row[$0] }, width: widths.last ?? 0) }
        let hasHead = headings.contains { !$0.isEmpty }
        return ((hasHead ? [head] : []) + body).map { cells in
            line(cells, widths: widths, isColoured: isColoured)
        }
    }

    private func wrapped(_ cells: [Cell], width: Int) -> [[Cell]] {
        guard wrapsLast, let last = cells.last else { return [cells] }
        let blank = cells.dropLast().map { _ in Cell("") }
        return TerminalText.wrap(last.text, columns: width).enumerated().map { index, text in
            (index == 0 ? cells.dropLast() : blank) + [Cell(text, last.colour)]
        }
    }

    private func line(_ cells: [Cell], widths: [Int], isColoured: Bool) -> String {
        var line = ""
        var gap = 0
        for (cell, width) in zip(cells, widths) {
            let text = TerminalText.fit(cell.text, columns: width)
            // Blanks are written only before text, so that no line ends in some.
            if !text.isEmpty {
                line += String(repeating: " ", count: gap)
                line += isColoured ? cell.colour?.paint(text) ?? text : text
                gap = 0
            }
            gap += width - TerminalText.width(of: text) + 2
        }
        return line
    }
}
