// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import XMPPXML

@Suite("About how many bytes an element takes")
struct ElementSizeTests {
    private static let namespace = "urn:" + String(repeating: "A", count: 3_000)

    private func read(_ xml: String) throws -> Element { try Element.parse(xml) }

    @Test(
        "its values count, at whatever depth, as read and as put together",
        arguments: [
            "<a xmlns='u'/>", "<a xmlns='u' b='cd'>text<e>more</e>tail</a>",
            "<a xmlns='u'><b><c><d x='y'>ü</d></c></b></a>",
        ])
    func sizes(_ xml: String) throws {
        let read = try read(xml)
        var changed = read
        changed["x"] = "y"
        changed["x"] = nil
        #expect(changed == read && changed.parsed == nil && read.parsed != nil)
        // What it is made of is still what was read.
        #expect((0...200).contains(changed.storedBytes - read.storedBytes))
        var longer = read
        longer.append(Element("n", namespace: "u", text: String(repeating: "z", count: 10_000)))
        #expect((10_000..<10_300).contains(longer.storedBytes - read.storedBytes))
    }

    @Test("a part of what was read holds on to the whole, and weighs as much; several parts weigh that once")
    func part() throws {
        let text = String(repeating: "z", count: 10_000)
        let element = try read("<a xmlns='u'><b>x</b><c>\(text)</c></a>")
        #expect(element.children[0].storedBytes == element.storedBytes)
        let both = Element("d", namespace: "u", children: element.children)
        #expect((0...100).contains(both.storedBytes - element.storedBytes))
    }

    @Test("a long namespace counts, that of an element and that of an attribute, as read and as put together")
    func namespaces() throws {
        let long = Self.namespace.utf8.count
        for xml in [
            "<p:a xmlns:p='\(Self.namespace)'/>", "<a><p:a xmlns:p='\(Self.namespace)'/></a>",
            "<a xmlns:p='\(Self.namespace)' p:b=''/>",
        ] {
            #expect((long...long + 300).contains(try read(xml).storedBytes), "\(xml.prefix(10))")
        }
        #expect((long...long + 300).contains(Element("a", namespace: Self.namespace).storedBytes))
        var built = Element("a", namespace: "u")
        built["b", namespace: Self.namespace] = "c"
        #expect((long...long + 300).contains(built.storedBytes))
    }

    @Test("a stanza of thousands of names in one long namespace has the namespace once")
    func sharedNamespace() throws {
        let names = (0..<5_000).map { "<p:a\($0)/>" }.joined()
        let read = try read("<a xmlns:p='\(Self.namespace)'>\(names)</a>")
        // 15 MB if each name had its own.
        #expect((Self.namespace.utf8.count..<500_000).contains(read.storedBytes))
        #expect(
            read.children.count == 5_000 && read.children.last?.name == ElementName("a4999", namespace: Self.namespace))
        let built = Element(
            "a", namespace: "u", children: (0..<5_000).map { Element("a\($0)", namespace: Self.namespace) })
        #expect((Self.namespace.utf8.count..<500_000).contains(built.storedBytes))
    }

    @Test(
        "names that the stream had are counted past what usual streams have, as a peer may have it begin anew with them"
    )
    func commonNames() throws {
        let parser = XMLStreamParser()
        func weight(_ xml: String) -> Int? {
            guard case .element(let element)? = parser.feed(Array(xml.utf8)[...], .batch).events.last else {
                return nil
            }
            return element.storedBytes
        }
        _ = parser.feed(Array(ParserHarness.header.utf8)[...], .batch)
        let before = try #require(weight("<a/>"))
        let padding = String(repeating: "n", count: 90)
        _ = weight("<a>\((0..<100).map { "<n\($0)\(padding)/>" }.joined())</a>")
        let after = try #require(weight("<a/>"))
        #expect((9_000 - NameTable.uncountedBytes..<10_000).contains(after - before))
    }
}
