// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPTestSupport

@testable import XMPPXML

@Suite("Writing elements")
struct XMLSerializerTests {
    @Test("What is written is read back equal, whatever it holds", arguments: Array(0..<10))
    func roundTrip(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            let element = RandomTree.element(&generator)
            let isInStream = Bool.random(using: &generator)
            let bytes = try XMLSerializer.serialize(element, defaultNamespace: "jabber:client", isInStream: isInStream)
            let read = try Element.parse(bytes)
            #expect(read == element)
            #expect(read.hashValue == element.hashValue)
            // Written again, it is the same: nothing depends on the way the element came about.
            let again = try XMLSerializer.serialize(read, defaultNamespace: "jabber:client", isInStream: isInStream)
            #expect(again == bytes)
        }
    }

    @Test(
        "Namespaces that only look alike stay two (XML Names §2.3)",
        arguments: [("urn:K", "urn:\u{212A}"), ("urn:a\u{301}\u{316}", "urn:a\u{316}\u{301}"), ("a;b", "a\u{37E}b")])
    func lookAlikes(_ one: String, _ other: String) throws {
        #expect(one == other, "they look alike")
        var outer = Element("a", namespace: one)
        outer.append(Element("b", namespace: other))
        var attributes = Element("c", namespace: one)
        attributes["x", namespace: one] = "1"
        attributes["y", namespace: other] = "2"
        outer.append(attributes)
        let read = try Element.parse(try XMLSerializer.serialize(outer))
        func bytes(_ text: String?) -> [UInt8]? { text.map { Array($0.utf8) } }
        #expect(bytes(read.children.first?.namespace) == bytes(other))
        #expect(bytes(read.children.last?.namespace) == bytes(one))
        #expect(read.children.last?.attributes.map { bytes($0.namespace) } == [bytes(one), bytes(other)])
    }

    @Test("A stanza in the stream's namespace needs no declaration; a payload declares its own (RFC 6120 §4.8.3)")
    func defaultNamespaces() throws {
        var message = Element(
            "message", namespace: "jabber:client", attributes: ["to": "juliet@example.com", "id": nil])
        message.append(Element("body", namespace: "jabber:client", text: "hi"))
        var payload = Element("x", namespace: "urn:x")
        payload.append(Element("y", namespace: "urn:x"))
        payload.append(Element("z", namespace: "jabber:client"))
        payload.append(Element("none", namespace: ""))
        message.append(payload)
        message.append(Element("active", namespace: "urn:x"))
        #expect(
            try XMLSerializer.string(message, defaultNamespace: "jabber:client")
                == "<message to='juliet@example.com'><body>hi</body><x xmlns='urn:x'><y/><z xmlns='jabber:client'/>"
                + "<none xmlns=''/></x><active xmlns='urn:x'/></message>")
        #expect(message.description.hasPrefix("<message xmlns='jabber:client' to="))
    }

    @Test("Inside a stream, elements of its namespace have the prefix stream and their content none (RFC 6120 §4.8.5)")
    func streamPrefix() throws {
        let condition = Element("conflict", namespace: "urn:ietf:params:xml:ns:xmpp-streams")
        let error = Element("error", namespace: Element.streamNamespace, children: [condition])
        #expect(
            try XMLSerializer.string(error, defaultNamespace: "jabber:client", isInStream: true)
                == "<stream:error><conflict xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error>")
        #expect(
            try XMLSerializer.string(error, defaultNamespace: "jabber:client")
                == "<error xmlns='http://etherx.jabber.org/streams'>"
                + "<conflict xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></error>")
    }

    @Test("The start tag of a stream declares both namespaces (RFC 6120 §4.8.1, §4.8.2)")
    func openTag() throws {
        var header = Element(
            "stream", namespace: Element.streamNamespace,
            attributes: ["to": "example.net", "from": "o'hara@example.net", "version": "1.0"])
        header.language = "en"
        let written = String(
            decoding: try XMLSerializer.openTag(header, contentNamespace: "jabber:client"), as: UTF8.self)
        #expect(
            written
                == "<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' "
                + "to='example.net' from='o&apos;hara@example.net' version='1.0' xml:lang='en'>")
        let result = ParserHarness.run(XMLSerializer.declaration + written + XMLSerializer.closeTag)
        #expect(result == .init(events: [.streamOpened(header, contentNamespace: "jabber:client"), .streamClosed]))
    }

    @Test("Attributes in other namespaces get a prefix that is declared beside them (XML Names §5.2)")
    func attributePrefixes() throws {
        var element = Element("x", namespace: "urn:x", attributes: ["plain": "1"])
        element["a", namespace: "urn:a"] = "2"
        element["b", namespace: "urn:b"] = "3"
        element["c", namespace: "urn:a"] = "4"
        element["lang", namespace: Element.xmlNamespace] = "de"
        #expect(
            try XMLSerializer.string(element)
                == "<x xmlns='urn:x' plain='1' xmlns:ns0='urn:a' ns0:a='2' xmlns:ns1='urn:b' ns1:b='3' ns0:c='4' "
                + "xml:lang='de'/>")
    }

    @Test(
        "A character that XML lacks is refused or replaced, as the caller chooses (XML §2.2)",
        arguments: [0x00, 0x01, 0x08, 0x0B, 0x0C, 0x0E, 0x1B, 0x1F, 0xFFFE, 0xFFFF] as [UInt32])
    func illegalCharacters(value: UInt32) throws {
        let scalar = try #require(Unicode.Scalar(value))
        let body = Element("body", namespace: "jabber:client", text: "a\(scalar)b")
        #expect(throws: XMLSerializationError.illegalCharacter(scalar, place: "text of body")) {
            try XMLSerializer.serialize(body)
        }
        let id = Element("iq", namespace: "jabber:client", attributes: ["id": "\(scalar)"])
        #expect(throws: XMLSerializationError.illegalCharacter(scalar, place: "attribute id of iq")) {
            try XMLSerializer.serialize(id)
        }
        let written = try XMLSerializer.serialize(body, illegalCharacters: .replace)
        #expect(try Element.parse(written).text == "a\u{FFFD}b")
        #expect(!id.description.unicodeScalars.contains(scalar))
    }

    @Test(
        "A name that is none is refused whatever the policy (XML Names §3)",
        arguments: [
            "", "a b", "a:b", ":", "1a", "-a", ".a", "a>", "a\u{0}", "a/", "a=''", "\u{D7}", "\u{301}", "a\u{37E}",
        ])
    func invalidNames(name: String) {
        #expect(throws: XMLSerializationError.invalidName(name)) {
            try XMLSerializer.serialize(Element(name, namespace: "urn:x"), illegalCharacters: .replace)
        }
        #expect(throws: XMLSerializationError.invalidName(name)) {
            try XMLSerializer.serialize(
                Element("x", namespace: "urn:x", attributes: [name: "v"]), illegalCharacters: .replace)
        }
    }

    @Test("Nothing can be declared by way of an attribute or put into a reserved namespace (XML Names §3)")
    func reserved() {
        #expect(throws: XMLSerializationError.invalidName("xmlns")) {
            try XMLSerializer.serialize(Element("x", namespace: "", attributes: ["xmlns": "urn:x"]))
        }
        for namespace in ["http://www.w3.org/2000/xmlns/", "urn:\u{1}"] {
            #expect(throws: XMLSerializationError.invalidNamespace(namespace)) {
                try XMLSerializer.serialize(Element("x", namespace: namespace), illegalCharacters: .replace)
            }
            var element = Element("x", namespace: "")
            element["a", namespace: namespace] = "v"
            #expect(throws: XMLSerializationError.invalidNamespace(namespace)) {
                try XMLSerializer.serialize(element, illegalCharacters: .replace)
            }
        }
    }

    @Test("Errors name what is wrong and are fit for a log")
    func errorTexts() {
        #expect(
            "\(XMLSerializationError.illegalCharacter("\u{1B}", place: "text of body"))"
                == "U+001B in the text of body is not a character that XML allows")
        #expect("\(XMLSerializationError.invalidName("a\u{1B}b"))" == "'a\u{FFFD}b' is not a name that XML allows")
    }

    @Test("A deep tree and a long row of siblings are written and compared without recursion")
    func deepAndWide() throws {
        var deep = Element("a", namespace: "urn:x")
        for _ in 0..<500 { deep = Element("a", namespace: "urn:x", children: [deep]) }
        #expect(try XMLSerializer.serialize(deep).count == "<a xmlns='urn:x'>".utf8.count + 499 * 3 + 4 + 500 * 4)
        let copy = deep
        #expect(copy == deep)
        var wide = Element("a", namespace: "urn:x")
        for _ in 0..<20_000 { wide.append(Element("b", namespace: "urn:x")) }
        #expect(try XMLSerializer.serialize(wide).count == "<a xmlns='urn:x'></a>".utf8.count + 80_000)
    }

    @Test(
        "Writing stops at the bound, wherever that is reached",
        arguments: [
            "<a>text</a>", "<a b='value'/>", "<a xmlns='urn:x'/>", "<a><b/></a>", "<a xmlns:ns0='u' ns0:b='c'/>",
        ])
    func bound(_ xml: String) throws {
        let element = try Element.parse(xml)
        let bytes = try XMLSerializer.serialize(element, defaultNamespace: "jabber:client")
        #expect(
            try XMLSerializer.serialize(element, defaultNamespace: "jabber:client", maximumBytes: bytes.count) == bytes)
        #expect(throws: XMLSerializationError.tooLarge(bytes.count - 1)) {
            try XMLSerializer.serialize(element, defaultNamespace: "jabber:client", maximumBytes: bytes.count - 1)
        }
    }

    @Test(
        "A stanza of 60 KB that would be 18 MB, as its namespace is written 6,000 times, is not written, nor described")
    func amplified() throws {
        let names = (0..<6_000).map { _ in "<p:a/><b/>" }.joined()
        let element = try Element.parse("<a xmlns:p='urn:\(String(repeating: "A", count: 3_000))'>\(names)</a>")
        #expect(throws: XMLSerializationError.tooLarge(XMLSerializer.maximumBytes)) {
            try XMLSerializer.serialize(element, defaultNamespace: "jabber:client")
        }
        #expect(element.description == "(element that cannot be written: it has more than 8000000 bytes as XML)")
    }
}
