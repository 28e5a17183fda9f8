// SPDX-License-Identifier: Apache-2.0

import XMPPXML

/// Makes elements out of all that is easily written or read wrongly.
struct RandomTree {
    private(set) var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    /// Names that every edition of XML 1.0 has.
    private static let names = [
        "message", "body", "x", "é", "a-b.c_d", "_", "日本", "iq", "Ω1", "stream", "xmlns", "xml", "query", "ключ", "א",
    ]
    private static let old = Set(names.joined().unicodeScalars)

    /// Whether a character is one that names have in every edition of XML 1.0: ASCII and those of our own names.
    static func isSurelyOld(_ scalar: Unicode.Scalar) -> Bool { scalar.isASCII || old.contains(scalar) }

    private static let namespaces = [
        "jabber:client", "", "urn:x", "http://etherx.jabber.org/streams", "http://www.w3.org/XML/1998/namespace",
        "urn:a}message{jabber:client", "jabber:client body", "urn:<&'\">", "日本", "http://example.org/?a=1&b=2",
        "urn:\n\t", "URN:x", "urn:x ",
    ]
    private static let pieces = [
        "a", "<", ">", "&", "'", "\"", "]]>", "\r", "\n", "\t", "\r\n", " ", "&amp;", "<!--", "<?x?>", "]]", "é", "日本",
        "\u{10FFFF}", "\u{FEFF}", "\u{FFFD}", "\u{85}", "\u{2028}", "\u{7F}", "\u{9B}", "e\u{301}", "&#0;", "😀",
        "\u{D7FF}\u{E000}", "&lt;x&gt;", String(repeating: "long ", count: 80),
    ]

    /// What is put into written elements to make others, and broken ones, of them.
    private static let fragments: [[UInt8]] =
        [
            "<", ">", "/>", "</", "&", ";", "'", "\"", "=", " ", "]]>", "<![CDATA[", "<![CDATA[a]]>", "&#x1;", "&#xD;",
            "&#65;", "&#0;", "&#xFFFE;", "&#x110000;", "&lt;", "&quot;", "&x;", "xmlns:a='urn:a'", " xmlns='urn:b' ",
            " xmlns='' ", " xmlns:a='' ", "a:", ":", "xml:lang='en'", " a='b'", " a:b='c' xmlns:a='urn:a'", "<a:x/>",
            "<b/>", "<b></b>", "<stream:x/>", "xmlns", "xmlns:xml='u'", "\u{FFFE}", "\u{0}", "\u{B}", "\u{85}", "é",
            "\r",
        ].map { Array($0.utf8) } + [
            [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82], [0xFF],
        ]

    private mutating func text() -> String {
        (0..<Int.random(in: 0...5, using: &generator))
            .map { _ in Self.pieces.randomElement(using: &generator) ?? "" }.joined()
    }

    /// An element that can be written.
    mutating func element(depth: Int = 0) -> Element {
        var element = Element(
            Self.names.randomElement(using: &generator) ?? "x",
            namespace: Self.namespaces.randomElement(using: &generator) ?? "")
        for _ in 0..<Int.random(in: 0...3, using: &generator) {
            var name = Self.names.randomElement(using: &generator) ?? "x"
            let namespace =
                Bool.random(using: &generator) ? "" : Self.namespaces.randomElement(using: &generator) ?? ""
            // An attribute of that name would be a declaration.
            if name == "xmlns" && namespace.isEmpty { name = "id" }
            element[name, namespace: namespace] = text()
        }
        for _ in 0..<Int.random(in: 0...(depth > 3 ? 0 : 3), using: &generator) {
            if Bool.random(using: &generator) {
                element.append(text: text())
            } else {
                element.append(self.element(depth: depth + 1))
            }
        }
        return element
    }

    /// The same bytes with a few pieces cut out, doubled, moved or put in.
    mutating func spoilt(_ bytes: [UInt8]) -> [UInt8] {
        var result = bytes
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            let index = Int.random(in: 0...result.count, using: &generator)
            let end = min(result.count, index + Int.random(in: 1...6, using: &generator))
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: result.removeSubrange(index..<end)
            case 1:
                result.insert(contentsOf: result[index..<end], at: Int.random(in: 0...result.count, using: &generator))
            default: result.insert(contentsOf: Self.fragments.randomElement(using: &generator) ?? [], at: index)
            }
        }
        return result
    }
}
