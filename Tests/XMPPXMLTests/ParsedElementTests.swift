// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import XMPPXML

@Suite("Elements that were read")
struct ParsedElementTests {
    static let xml =
        "<message to='a@b' xml:lang='en' id='1&amp;2'><body>one &lt; <![CDATA[two]]></body>mid"
        + "<x xmlns='urn:x'><y z='1'/>tail</x><body xml:lang='de'>zwei</body><empty/></message>"

    @Test("An element that was read equals the same one put together")
    func equalsBuilt() throws {
        let read = try Element.parse(Self.xml)
        var built = Element("message", namespace: "jabber:client", attributes: ["to": "a@b"])
        built.language = "en"
        built["id"] = "1&2"
        built.append(Element("body", namespace: "jabber:client", text: "one < two"))
        built.append(text: "mid")
        var x = Element("x", namespace: "urn:x", children: [Element("y", namespace: "urn:x", attributes: ["z": "1"])])
        x.append(text: "tail")
        built.append(x)
        var body = Element("body", namespace: "jabber:client", text: "zwei")
        body.language = "de"
        built.append(body)
        built.append(Element("empty", namespace: "jabber:client"))
        #expect(read == built)
        #expect(read.hashValue == built.hashValue)
        #expect(read.nodes == built.nodes)
        #expect(read.children == built.children)
        #expect(read.text == "mid")
        #expect(read.firstChild("x", namespace: "urn:x")?.text == "tail")
        #expect(read.children("body", namespace: "jabber:client").count == 2)
        #expect(read.firstChild("z", namespace: "urn:x") == nil)
        #expect(try Element.parse(read.description) == built)
    }

    @Test("A change to a copy leaves the element and its other copies as they were")
    func copiesAreIndependent() throws {
        let read = try Element.parse(Self.xml)
        let before = read.description
        var copy = read
        copy["to"] = "c@d"
        copy.append(Element("more", namespace: "urn:x"))
        var second = copy
        second.removeContent()
        second["id"] = nil
        #expect(read.description == before)
        #expect(read["to"] == "a@b")
        #expect(copy["to"] == "c@d")
        #expect(copy.children.count == read.children.count + 1)
        #expect(second.nodes.isEmpty)
        #expect(copy["id"] == "1&2")
        var child = try #require(read.firstChild("x", namespace: "urn:x"))
        child.append(text: "!")
        #expect(child.text == "tail!")
        #expect(read.firstChild("x", namespace: "urn:x")?.text == "tail")
    }

    @Test("An attribute is compared by octets, whether read or put together")
    func comparesAttributes() throws {
        let read = try Element.parse("<a b='bjo\u{308}rn' c=''/>")
        var built = Element("a", namespace: "jabber:client", attributes: ["b": "bjo\u{308}rn", "c": ""])
        for element in [read, built] {
            #expect(element.hasAttribute("b", "bjo\u{308}rn"))
            #expect(!element.hasAttribute("b", "bj\u{F6}rn"))
            #expect(!element.hasAttribute("b", "bjo\u{308}rm"))
            #expect(element.hasAttribute("c", ""))
            #expect(!element.hasAttribute("d", ""))
        }
        built["b"] = "x"
        #expect(built.hasAttribute("b", "x"))
    }

    @Test("Names beyond those that stanzas have in common go with their stanza, and the next one starts over")
    func namesAreBounded() throws {
        let parser = XMLStreamParser()
        _ = parser.feed(
            Array("<stream:stream xmlns:stream='\(Element.streamNamespace)' xmlns='jabber:client'>".utf8)[...], .batch)
        var first: Element?
        for stanza in 0..<8 {
            let names = (0..<100).map { "n\(stanza)-\($0)" }
            let xml = "<s>" + names.map { "<\($0) a\($0)='\($0)'/>" }.joined() + "</s>"
            let outcome = parser.feed(Array(xml.utf8)[...], .batch)
            guard case .element(let element)? = outcome.events.first else {
                Issue.record("no element: \(outcome)")
                return
            }
            #expect(element.children.map(\.localName) == names)
            #expect(element.children.allSatisfy { $0["a\($0.localName)"] == $0.localName })
            first = first ?? element
        }
        #expect(first?.children.last?.localName == "n0-99")
    }
}
