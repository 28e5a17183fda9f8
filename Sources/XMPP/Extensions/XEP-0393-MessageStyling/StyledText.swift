// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
internal import XMPPXML

/// A text with its styling made out (XEP-0393). Nothing is taken away: the characters that style are parts of the text,
/// so that what is shown is what was written.
public struct StyledText: Sendable, Hashable {
    /// The namespace of the element that turns styling off.
    public static let namespace = "urn:xmpp:styling:0"
    /// How deep quotations within quotations are told apart; 10. What lies deeper is text of the innermost one.
    public static let maximumDepth = 10
    /// How long a line may be whose spans are made out; 10,000 bytes of UTF-8. A longer one is plain text.
    public static let maximumLineBytes = 10_000

    /// A block of lines.
    public enum Block: Sendable, Hashable {
        /// A line of text.
        case plain([Span])
        /// Lines between two fences, with what stands behind the first fence.
        case preformatted(String, info: String)
        /// Lines that begin with `>`, without it.
        case quotation([Block])
    }

    /// How a span of text is meant.
    public enum Style: Character, Sendable, Hashable, CaseIterable {
        /// `*strong*`
        case strong = "*"
        /// `_emphasised_`
        case emphasised = "_"
        /// `~struck through~`
        case struck = "~"
        /// Between two backquotes: preformatted; there is no styling in it.
        case preformatted = "`"
    }

    /// A part of a line.
    public indirect enum Span: Sendable, Hashable {
        /// Text.
        case text(String)
        /// Spans with a style, without the characters on both sides that make it.
        case styled(Style, [Span])
    }

    /// The blocks, in order.
    public let blocks: [Block]

    /// Makes the styling of a text out.
    public init(_ text: String) {
        let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        blocks = Self.blocks(of: lines, depth: 0)
    }

    /// A line, or what is left of one behind the signs of quotations: by Unicode scalars, since a mark behind one that
    /// styles, or a carriage return before a line feed, would make another `Character` of it.
    private typealias Line = Substring.UnicodeScalarView

    private static let fence: [Unicode.Scalar] = ["`", "`", "`"]

    private static func blocks(of lines: [Line], depth: Int) -> [Block] {
        var blocks: [Block] = []
        var index = lines.startIndex
        while index < lines.endIndex {
            let line = lines[index]
            if line.starts(with: fence) {
                // XEP-0393 §6.1.2: up to a line that is nothing but a fence, or to the end of the block around it.
                let end = lines[(index + 1)...].firstIndex { $0.elementsEqual(fence) } ?? lines.endIndex
                let text = lines[(index + 1)..<end].map { String($0) }.joined(separator: "\n")
                blocks.append(.preformatted(text, info: String(line.dropFirst(3))))
                index = end == lines.endIndex ? end : end + 1
            } else if line.first == ">", depth < maximumDepth {
                let end = lines[index...].firstIndex { $0.first != ">" } ?? lines.endIndex
                let inner = lines[index..<end].map { line in
                    // One leading white space belongs to the sign.
                    line.dropFirst(line.dropFirst().first?.properties.isWhitespace == true ? 2 : 1)
                }
                blocks.append(.quotation(Self.blocks(of: inner, depth: depth + 1)))
                index = end
            } else {
                blocks.append(.plain(spans(of: line)))
                index += 1
            }
        }
        return blocks
    }

    private static func spans(of line: Line) -> [Span] {
        let text = String(line)
        guard text.utf8.count <= maximumLineBytes else { return [.text(text)] }
        let scalars = Array(line)
        return SpanReader(scalars).spans(from: 0, to: scalars.count, allowed: Set(Style.allCases))
    }
}

/// Makes out the spans of one line.
private struct SpanReader {
    private let scalars: [Unicode.Scalar]
    /// For each place the style that its scalar makes.
    private let styles: [StyledText.Style?]

    init(_ scalars: [Unicode.Scalar]) {
        self.scalars = scalars
        styles = scalars.map { scalar in
            // By the scalar: as a `Character`, U+1FEF is a backquote too.
            switch scalar {
            case "*": .strong
            case "_": .emphasised
            case "~": .struck
            case "`": .preformatted
            default: nil
            }
        }
    }

    private func isWhitespace(_ index: Int) -> Bool { scalars[index].properties.isWhitespace }

    private func text(_ range: Range<Int>) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars[range])
        return String(text)
    }

    /// The spans of a part of the line. A style may not be within itself.
    func spans(from start: Int, to end: Int, allowed: Set<StyledText.Style>) -> [StyledText.Span] {
        var spans: [StyledText.Span] = []
        var text = ""
        var index = start
        // What has no end once has none later either.
        var unclosed: Set<StyledText.Style> = []
        func isOpening(_ index: Int) -> Bool {
            guard index + 1 < end, !isWhitespace(index + 1) else { return false }
            // XEP-0393 §6.2: at the beginning, behind white space, or behind another opening directive.
            guard index > start, !isWhitespace(index - 1) else { return true }
            return styles[index - 1] != nil && styles[index - 1] != styles[index]
        }
        while index < end {
            if let style = styles[index], allowed.contains(style), !unclosed.contains(style), isOpening(index) {
                let close = closing(style, from: index, to: end)
                if close == index + 1 {
                    // Nothing between the two: neither of them styles.
                    text.unicodeScalars.append(scalars[index])
                    index += 1
                } else if let close {
                    if !text.isEmpty { spans.append(.text(text)) }
                    text = ""
                    let inner =
                        style == .preformatted
                        ? [.text(self.text((index + 1)..<close))]
                        : self.spans(from: index + 1, to: close, allowed: allowed.subtracting([style]))
                    spans.append(.styled(style, inner))
                    index = close + 1
                    continue
                } else {
                    unclosed.insert(style)
                }
            }
            text.unicodeScalars.append(scalars[index])
            index += 1
        }
        if !text.isEmpty { spans.append(.text(text)) }
        return spans
    }

    /// The end of a span: the first directive of its style that does not follow white space.
    private func closing(_ style: StyledText.Style, from open: Int, to end: Int) -> Int? {
        ((open + 1)..<end).first { styles[$0] == style && !isWhitespace($0 - 1) }
    }
}

extension Message {
    /// Whether the text is to be shown as it is, without styling (XEP-0393 §7).
    public var isUnstyled: Bool {
        get { hasPayload("unstyled", namespace: StyledText.namespace) }
        set {
            removePayloads("unstyled", namespace: StyledText.namespace)
            if newValue { append(Element("unstyled", namespace: StyledText.namespace)) }
        }
    }
}
