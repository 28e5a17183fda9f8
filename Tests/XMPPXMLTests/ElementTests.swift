// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import XMPPXML

@Suite("Elements as values")
struct ElementTests {
    @Test("Attributes are equal in any order, and equal elements have equal hashes")
    func attributeOrder() {
        let one = Element("x", namespace: "urn:x", attributes: ["a": "1", "b": "2"])
        let other = Element("x", namespace: "urn:x", attributes: ["b": "2", "a": "1"])
        #expect(one == other)
        #expect(one.hashValue == other.hashValue)
        #expect(one != Element("x", namespace: "urn:x", attributes: ["a": "2", "b": "1"]))
        #expect(one != Element("x", namespace: "urn:y", attributes: ["a": "1", "b": "2"]))
        #expect(one != Element("x", namespace: "urn:x", attributes: ["a": "1"]))
    }

    @Test("Neighbouring text is one node, also after a child between was removed")
    func textIsMerged() {
        var element = Element("x", namespace: "urn:x", text: "a")
        element.append(text: "b")
        element.append(Element("y", namespace: "urn:x"))
        element.append(text: "c")
        #expect(element.nodes.count == 3)
        element.removeChildren { $0.localName == "y" }
        #expect(element == Element("x", namespace: "urn:x", text: "abc"))
        element.append(text: "")
        #expect(element.nodes == [.text("abc")])
        element.removeContent()
        #expect(element.nodes.isEmpty)
    }

    @Test("Children differ in order, kind and text")
    func childrenCount() {
        let first = Element("a", namespace: "urn:x")
        let second = Element("b", namespace: "urn:x")
        #expect(
            Element("x", namespace: "urn:x", children: [first, second])
                != Element("x", namespace: "urn:x", children: [second, first]))
        #expect(Element("x", namespace: "", text: "e\u{301}") != Element("x", namespace: "", text: "é"))
        let accents = ["e\u{301}", "é"].map { Element("x", namespace: "", attributes: ["a": $0]) }
        #expect(accents[0] != accents[1])
        var text = Element("x", namespace: "urn:x")
        text.append(text: "a")
        #expect(text != Element("x", namespace: "urn:x", children: [first]))
    }

    @Test("A copy is independent")
    func copies() {
        let original = Element("x", namespace: "urn:x", attributes: ["a": "1"])
        var copy = original
        copy["a"] = nil
        copy["b"] = "2"
        copy.append(contentsOf: [original, original])
        #expect(original["a"] == "1" && original["b"] == nil && original.nodes.isEmpty)
        #expect(copy["a"] == nil && copy["b"] == "2" && copy.children.count == 2)
    }

    @Test("Look-ups go by namespace and name, never by prefix (XML Names §2)")
    func queries() throws {
        let element = try Element.parse(
            "<message xml:lang='de' a='1' xmlns:p='urn:p' p:a='2'>t<p:x/>u<x xmlns='urn:p'>v</x><body>b</body></message>"
        )
        #expect(element.isNamed("message", namespace: "jabber:client"))
        #expect(element.language == "de" && element["a"] == "1" && element["a", namespace: "urn:p"] == "2")
        #expect(element["lang"] == nil && element["xmlns"] == nil && element.attributes.count == 3)
        #expect(element.text == "tu")
        #expect(element.children("x", namespace: "urn:p").map(\.text) == ["", "v"])
        #expect(element.firstChild("body", namespace: "jabber:client")?.text == "b")
        #expect(element.firstChild("body", namespace: "urn:p") == nil)
    }

    @Test(
        "A text that is not exactly one element is refused",
        arguments: [
            "", " ", "x", "<a/><b/>", "<a/>x", "<a>", "<a", "</stream:stream>", "<a/></stream:stream>", "<a/><",
            "<?xml version='1.0'?><a/>", "<!-- --><a/>", "<a>&x;</a>", "<p:a/>",
        ])
    func refusedFragments(text: String) {
        #expect(throws: XMLStreamError.self) { try Element.parse(text) }
    }

    @Test("A text may have white space around its element, other default namespaces and the prefix stream")
    func acceptedFragments() throws {
        #expect(try Element.parse(" <a/>\n").name == ElementName("a", namespace: "jabber:client"))
        #expect(try Element.parse("<a/>", defaultNamespace: "").name == ElementName("a", namespace: ""))
        #expect(try Element.parse("<stream:error/>").namespace == Element.streamNamespace)
        #expect(try Element.parse("<a/>", limits: XMLLimits(maximumStanzaBytes: 4)).localName == "a")
        #expect(throws: XMLStreamError.self) { try Element.parse("<a/>", limits: XMLLimits(maximumStanzaBytes: 3)) }
    }
}
