// SPDX-License-Identifier: Apache-2.0

import XMPP

extension FuzzTarget {
    /// Any text, with its styling made out (XEP-0393): nothing of it is lost, and nothing nests without end.
    static let styling = FuzzTarget(
        name: "styling",
        seeds: {
            [
                "*a* _b_ ~c~ `d`", "*_~`x`~_*", "**", "* a*", "*a\n*b*", "> *q*\n>> `r\n> s", "```swift\n*x*\n```\n*y*",
                "> ```\n> x\ny", "*a *b* c*", "e\u{301}*\u{301}a*", ">\u{2003}x",
            ].map { Array($0.utf8) }
        }
    ) { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        let styled = StyledText(text)
        for block in styled.blocks { try checkBlock(block, depth: 0) }
        // By bytes: with a mark that combines after it, a sign of styling is no character of its own.
        let lines = bytes.split(separator: UInt8(ascii: "\n"))
        guard !lines.contains(where: { $0.starts(with: ">".utf8) || $0.starts(with: "```".utf8) }) else { return }
        let shown = styled.blocks.map { block in if case .plain(let spans) = block { written(spans) } else { "" } }
        try require(shown.joined(separator: "\n").isIdentical(to: text), "“\(text)” is shown as \(shown)")
    }

    private static func checkBlock(_ block: StyledText.Block, depth: Int) throws {
        switch block {
        case .plain(let spans): try checkSpans(spans, within: [])
        case .preformatted(let text, let info):
            try require(!info.utf8.contains(UInt8(ascii: "\n")), "what stands behind a fence is a line")
            let lines = text.utf8.split(separator: UInt8(ascii: "\n"))
            try require(!lines.contains { $0.elementsEqual("```".utf8) }, "a fence within fences")
        case .quotation(let blocks):
            try require(depth < StyledText.maximumDepth, "quotations within quotations")
            for block in blocks { try checkBlock(block, depth: depth + 1) }
        }
    }

    private static func checkSpans(_ spans: [StyledText.Span], within styles: Set<StyledText.Style>) throws {
        for (index, span) in spans.enumerated() {
            switch span {
            case .text(let text):
                try require(!text.isEmpty, "an empty text")
                if index > 0, case .text = spans[index - 1] { throw BrokenRule(description: "a text cut in two") }
            case .styled(let style, let inner):
                try require(!styles.contains(style), "a style within itself")
                try require(!styles.contains(.preformatted), "styling within what is preformatted")
                // XEP-0393 §6.2: something stands between the two, and white space at neither of them.
                let text = written(inner)
                let ends = [text.unicodeScalars.first, text.unicodeScalars.last]
                let isTight = ends.allSatisfy { $0?.properties.isWhitespace == false }
                try require(isTight, "“\(text)” is styled")
                try checkSpans(inner, within: styles.union([style]))
            }
        }
    }

    /// What was written to get these spans.
    private static func written(_ spans: [StyledText.Span]) -> String {
        spans.map { span in
            switch span {
            case .text(let text): text
            case .styled(let style, let inner): "\(style.rawValue)\(written(inner))\(style.rawValue)"
            }
        }.joined()
    }
}
