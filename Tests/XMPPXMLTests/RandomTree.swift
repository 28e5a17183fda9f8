// SPDX-License-Identifier: Apache-2.0

import XMPPTestSupport

@testable import XMPPXML

/// Makes trees out of all that is easily written wrongly.
enum RandomTree {
    static let names = ["message", "body", "x", "é", "a-b.c_d", "_", "日本", "iq", "xmlns", "Ω1", "stream", "\u{10400}"]
    static let namespaces = [
        "jabber:client", "", "urn:x", Element.streamNamespace, Element.xmlNamespace, "urn:a}message{jabber:client",
        "jabber:client body", "urn:<&'\">", "日本", "http://example.org/?a=1&b=2", "urn:\n\t",
    ]
    static let pieces = [
        "a", "<", ">", "&", "'", "\"", "]]>", "\r", "\n", "\t", "\r\n", " ", "&amp;", "<!--", "<?x?>", "]]", "é", "日本",
        "\u{10FFFF}", "\u{FEFF}", "\u{FFFD}", "\u{85}", "\u{2028}", "\u{7F}", "\u{9B}", "e\u{301}", "&#0;", "😀",
        String(repeating: "long ", count: 80),
    ]

    static func text(_ generator: inout SeededGenerator) -> String {
        (0..<Int.random(in: 0...6, using: &generator)).map { _ in pieces.randomElement(using: &generator) ?? "" }
            .joined()
    }

    static func element(_ generator: inout SeededGenerator, depth: Int = 0) -> Element {
        var element = Element(
            names.randomElement(using: &generator) ?? "x", namespace: namespaces.randomElement(using: &generator) ?? "")
        for _ in 0..<Int.random(in: 0...3, using: &generator) {
            var name = names.randomElement(using: &generator) ?? "x"
            let namespace = Bool.random(using: &generator) ? "" : namespaces.randomElement(using: &generator) ?? ""
            if name == "xmlns" && namespace.isEmpty { name = "id" }
            element[name, namespace: namespace] = text(&generator)
        }
        for _ in 0..<Int.random(in: 0...(depth > 4 ? 0 : 3), using: &generator) {
            if Bool.random(using: &generator) {
                element.append(text: text(&generator))
            } else {
                element.append(self.element(&generator, depth: depth + 1))
            }
        }
        return element
    }
}
