// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPP

/// An element as somebody writes it and the value that it stands for: what every payload is held against, in five ways.
struct PayloadRow: Sendable, CustomTestStringConvertible {
    let clause: String
    let xml: String
    /// The element that the value is written as.
    let written: Element
    let name: ElementName
    /// The attributes that the element says nothing without.
    let required: [String]
    /// Whether an element is read as the value.
    let isRead: @Sendable (Element) -> Bool
    /// Whether an element is read at all.
    let isAnything: @Sendable (Element) -> Bool

    /// Makes a row.
    ///
    /// - Parameters:
    ///   - clause: Where the specification says so.
    ///   - value: The value.
    ///   - xml: The element, with its namespace.
    ///   - required: The attributes that it says nothing without.
    init<Payload: StanzaPayload & Hashable>(
        _ clause: String, _ value: Payload, _ xml: String, required: [String] = []
    ) {
        self.clause = clause
        self.xml = xml
        self.required = required
        written = value.element
        name = Payload.elementName
        isRead = { Payload($0) == value }
        isAnything = { Payload($0) != nil }
    }

    var testDescription: String { "\(clause): \(xml.prefix(100))" }

    /// Every row of every extension.
    static let all: [PayloadRow] = formRows + serviceRows + messageRows + accountRows
}

@Suite("Payloads of extensions")
struct PayloadTests {
    @Test("an element is read as what it says", arguments: PayloadRow.all)
    func parse(row: PayloadRow) throws {
        #expect(row.isRead(try Element.parse(row.xml)))
    }

    @Test("a value is written as its specification does", arguments: PayloadRow.all)
    func serialise(row: PayloadRow) throws {
        #expect(row.written == (try Element.parse(row.xml)))
    }

    @Test("what was written is read back as the same", arguments: PayloadRow.all)
    func roundTrip(row: PayloadRow) throws {
        let text = try XMLSerializer.string(row.written)
        #expect(row.isRead(try Element.parse(text)))
    }

    @Test("an element of another name or namespace is another element", arguments: PayloadRow.all)
    func wrongElement(row: PayloadRow) throws {
        var element = try Element.parse(row.xml)
        element.name = ElementName("\(row.name.localName)x", namespace: row.name.namespace)
        #expect(!row.isAnything(element))
        element.name = ElementName(row.name.localName, namespace: "\(row.name.namespace)x")
        #expect(!row.isAnything(element))
    }

    @Test("an element without an attribute that it needs says nothing", arguments: PayloadRow.all)
    func missingAttribute(row: PayloadRow) throws {
        for attribute in row.required {
            var element = try Element.parse(row.xml)
            try #require(element[attribute] != nil, "\(attribute) is not there to begin with")
            element[attribute] = nil
            #expect(!row.isAnything(element), "without \(attribute)")
        }
    }
}
