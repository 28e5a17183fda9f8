// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import XMPPXML

@Suite("About how many bytes an element takes")
struct ElementSizeTests {
    @Test(
        "its values count, at whatever depth, as read and as put together",
        arguments: [
            "<a xmlns='u'/>", "<a xmlns='u' b='cd'>text<e>more</e>tail</a>",
            "<a xmlns='u'><b><c><d x='y'>ü</d></c></b></a>",
        ])
    func sizes(_ xml: String) throws {
        let read = try Element.parse(Array(xml.utf8))
        var changed = read
        changed["x"] = "y"
        changed["x"] = nil
        #expect(changed == read && changed.parsed == nil && read.parsed != nil)
        #expect(changed.storedBytes == read.storedBytes)
        var longer = read
        longer.append(Element("n", namespace: "u", text: String(repeating: "z", count: 10_000)))
        #expect((10_000..<10_200).contains(longer.storedBytes - read.storedBytes))
    }

    @Test("a part of what was read is as large as it is, and not as the whole")
    func part() throws {
        let text = String(repeating: "z", count: 10_000)
        let element = try Element.parse(Array("<a xmlns='u'><b>x</b><c>\(text)</c></a>".utf8))
        #expect(element.children[0].storedBytes < 100)
        #expect(element.children[1].storedBytes > 10_000)
    }
}
