// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPP

@Suite("Message styling (XEP-0393)")
struct StyledTextTests {
    /// A line in a short form: `<*…>` is a span.
    private static func describe(_ spans: [StyledText.Span]) -> String {
        spans.map { span in
            switch span {
            case .text(let text): text
            case .styled(let style, let inner): "<\(style.rawValue)\(describe(inner))>"
            }
        }.joined()
    }

    private static func describe(_ block: StyledText.Block) -> String {
        switch block {
        case .plain(let spans): describe(spans)
        case .preformatted(let text, let info): "[\(info)|\(text)]"
        case .quotation(let blocks): "{" + blocks.map(describe).joined(separator: "/") + "}"
        }
    }

    @Test(
        "spans are what the specification's examples say (XEP-0393 §6.2)",
        arguments: [
            ("plain span", "plain span"), ("*strong span*", "<*strong span>"),
            ("plain _emphasis_ plain", "plain <_emphasis> plain"), ("`pre` plain *strong*", "<`pre> plain <*strong>"),
            ("*strong*plain*", "<*strong>plain*"), ("* plain *strong*", "* plain <*strong>"),
            ("not strong*", "not strong*"), ("*not strong", "*not strong"), ("*not *strong", "*not *strong"),
            ("**", "**"), ("***", "***"), ("****", "****"), ("~gone~", "<~gone>"),
            ("`*not*`", "<`*not*>"), ("*_both_*", "<*<_both>>"), ("_*a*b_", "<_<*a>b>"), ("a*b*", "a*b*"),
            ("*a _b* c_", "<*a _b> c_"), ("", ""),
        ])
    func spans(text: String, expected: String) {
        #expect(StyledText(text).blocks.map(Self.describe) == [expected])
    }

    @Test(
        "blocks are what the specification's examples say (XEP-0393 §6.1)",
        arguments: [
            ("*not \n strong*", ["*not ", " strong*"]),
            ("```ignored\n(x)\n*y*\n```\nplain", ["[ignored|(x)\n*y*]", "plain"]),
            ("> ```\n> (x)\nplain", ["{[|(x)]}", "plain"]), ("> is.\nSaid", ["{is.}", "Said"]),
            (">> is.\n> Said\nWho?", ["{{is.}/Said}", "Who?"]), ("```\nno end", ["[|no end]"]),
            (">", ["{}"]), ("```\n```", ["[|]"]),
        ] as [(String, [String])])
    func blocks(text: String, expected: [String]) {
        #expect(StyledText(text).blocks.map(Self.describe) == expected)
    }

    @Test(
        "lines and signs are made out by their code points, whatever follows them (XEP-0393 §6.1, §6.2)",
        arguments: [
            ("> quoted\r\nmine", ["{quoted\r}", "mine"]), (">\u{301}a", ["{\u{301}a}"]),
            ("*a*\u{301}", ["<*a>\u{301}"]), ("\u{1FEF}a\u{1FEF}", ["\u{1FEF}a\u{1FEF}"]),
            ("```\u{301}\nx\n\u{1FEF}\u{1FEF}\u{1FEF}\n```", ["[\u{301}|x\n\u{1FEF}\u{1FEF}\u{1FEF}]"]),
        ] as [(String, [String])])
    func codePoints(text: String, expected: [String]) {
        let blocks = StyledText(text).blocks.map(Self.describe)
        #expect(blocks.map { Array($0.unicodeScalars) } == expected.map { Array($0.unicodeScalars) })
    }

    @Test("quotations are told apart to a depth, and lines to a length: what is beyond is text")
    func limits() {
        func depth(_ blocks: [StyledText.Block]) -> Int {
            guard case .quotation(let inner)? = blocks.first else { return 0 }
            return 1 + depth(inner)
        }
        #expect(depth(StyledText(String(repeating: ">", count: 5_000)).blocks) == StyledText.maximumDepth)
        let long = String(repeating: "*a* ", count: StyledText.maximumLineBytes / 4 + 1)
        #expect(StyledText(long).blocks == [.plain([.text(long)])])
        #expect(StyledText(String(long.dropLast(4))).blocks != [.plain([.text(String(long.dropLast(4)))])])
    }

    @Test("text is never lost, whatever is written")
    func lossless() {
        var generator = SystemRandomNumberGenerator()
        func text(_ block: StyledText.Block) -> String {
            func text(_ span: StyledText.Span) -> String {
                switch span {
                case .text(let text): text
                case .styled(let style, let inner): "\(style.rawValue)" + inner.map(text).joined() + "\(style.rawValue)"
                }
            }
            return if case .plain(let spans) = block { spans.map(text).joined() } else { "" }
        }
        for _ in 0..<2_000 {
            let line = String((0..<12).map { _ in "*_~` ab".randomElement(using: &generator) ?? "a" })
            guard !line.hasPrefix("```") else { continue }
            #expect(StyledText(line).blocks.map(text) == [line])
        }
    }
}
