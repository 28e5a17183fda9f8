// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPXML

@testable import XMPP

@Suite struct RouteTableTests {
    /// Both have five and seven letters, so that they share a place.
    private let one = ElementName("event", namespace: "urn:a:b")
    private let other = ElementName("other", namespace: "urn:c:d")

    private func element(_ name: ElementName) -> Element { Element(name.localName, namespace: name.namespace) }

    @Test("names of the same lengths have routes of their own")
    func sharedPlaces() {
        var table = RouteTable<Int>()
        table.set(one, 1)
        table.set(other, 2)
        #expect(table[element(one)] == 1)
        #expect(table[element(other)] == 2)
    }

    @Test("a name has no route of another name with the same lengths, local name or namespace")
    func strangers() {
        var table = RouteTable<Int>()
        table.set(one, 1)
        #expect(table[element(other)] == nil)
        #expect(table[Element("event", namespace: "urn:c:d")] == nil)
        #expect(table[Element("other", namespace: "urn:a:b")] == nil)
    }

    @Test("the route that is set last counts")
    func replacing() {
        var table = RouteTable<Int>()
        table.set(one, 1)
        table.set(other, 2)
        table.set(one, 3)
        #expect(table[element(one)] == 3)
        #expect(table[element(other)] == 2)
    }
}
