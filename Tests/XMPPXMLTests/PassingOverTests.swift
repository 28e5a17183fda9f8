// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPTestSupport

@testable import XMPPXML

@Suite("Elements that are past a limit and are passed over")
struct PassingOverTests {
    private static func passing(_ limits: XMLLimits, atMost bytes: Int = 100_000) -> XMLLimits {
        var limits = limits
        limits.maximumPassedOverBytes = bytes
        return limits
    }

    /// What was passed over.
    private static func passed(_ result: ParserHarness.Result) -> [PassedOverElement] {
        result.events.compactMap { if case .passedOver(let element) = $0 { element } else { nil } }
    }

    @Test(
        "What is past a limit is one event, and what stands around it arrives, at every chunking",
        arguments: XMLLimitsTests.cases)
    func between(test: XMLLimitsTests.Case) throws {
        let limits = Self.passing(test.limits)
        let bytes = Array("<s><before/> \(test.past) <after/>\(test.past)</s>".utf8)
        let whole = ParserHarness.run(bytes, limits: limits)
        #expect(whole.error == nil, "\(whole)")
        #expect(whole.elements.map(\.localName) == ["before", "after"])
        let passed = Self.passed(whole)
        #expect(passed.count == 2 && passed.allSatisfy { $0.bytes == test.past.utf8.count }, "\(whole)")
        #expect(whole.events.count == 6 && whole.events.last == .streamClosed)
        #expect(ParserHarness.differences(bytes, from: whole, limits: limits).isEmpty)
        // What is within the limits is not touched.
        let within = Array("<s>\(test.within)</s>".utf8)
        #expect(ParserHarness.run(within, limits: limits) == ParserHarness.run(within, limits: test.limits))
    }

    /// A start tag, and what is to be known of it.
    struct Tag: Sendable, CustomTestStringConvertible {
        let xml: String
        var name = ElementName("message", namespace: "jabber:client")
        var from: String?
        var id: String?
        var type: String?
        var testDescription: String { String(xml.prefix(60)) }
    }

    private static let filler = (0..<12).map { " a\($0)=''" }.joined()
    private static let long = String(repeating: "x", count: 4_000)

    private static let tags: [Tag] = [
        // The limit is passed behind the tag.
        Tag(xml: "<message from='a@b/c' id='1' type='chat'>\(long)</message>", from: "a@b/c", id: "1", type: "chat"),
        Tag(xml: "<message id='é&lt;&#x41;'><a b='\(long)'/></message>", id: "é<A"),
        Tag(xml: "<iq xmlns='urn:x' to='t'>\(long)</iq>", name: ElementName("iq", namespace: "urn:x")),
        Tag(
            xml: "<iq xmlns:from='urn:x' from:id='1'>\(long)</iq>", name: ElementName("iq", namespace: "jabber:client")),
        // Within the tag: what comes behind the limit is known as well.
        Tag(
            xml: "<message from='a&amp;b@c' id=\"&lt;'&gt;\"\(filler) type = 'chat'/>", from: "a&b@c", id: "<'>",
            type: "chat"),
        Tag(
            xml: "<message\(filler) type='é' id='&#233;&#x1F600;&quot;&apos;' from='f'/>", from: "f", id: "é😀\"'",
            type: "é"),
        Tag(xml: "<message\(filler) id='1'><a/><b/>text</message>", id: "1"),
        Tag(xml: "<message x='\(long)' id='a\n\tb'/>", id: "a  b"),
        Tag(xml: "<message from='\(long)' id='1'/>", id: "1"),
        Tag(
            xml: "<presence\(filler) xmlns='urn:x' id='1'/>", name: ElementName("presence", namespace: "urn:x"), id: "1"
        ),
        Tag(xml: "<p:iq\(filler) id='1' xmlns:p='urn:&amp;'/>", name: ElementName("iq", namespace: "urn:&"), id: "1"),
        Tag(
            xml: "<stream:error\(filler)/>",
            name: ElementName("error", namespace: "http://etherx.jabber.org/streams")),
        Tag(xml: "<\(long)/>", name: ElementName("", namespace: "jabber:client")),
    ]

    @Test("What the start tag says of sender, id and type is known, wherever the limit is passed", arguments: tags)
    func head(tag: Tag) throws {
        let limits = Self.passing(
            XMLLimits(maximumStanzaBytes: 2_000, maximumAttributes: 8, maximumNameBytes: 1_000))
        let bytes = Array((ParserHarness.header + tag.xml + "<a/>").utf8)
        let whole = ParserHarness.run(bytes, limits: limits)
        #expect(whole.error == nil && whole.elements.count == 1, "\(whole)")
        let expected = PassedOverElement(
            tag.name, from: tag.from, id: tag.id, type: tag.type, bytes: tag.xml.utf8.count)
        #expect(Self.passed(whole) == [expected])
        #expect(ParserHarness.differences(bytes, from: whole, everyCut: false, limits: limits).isEmpty)
    }

    @Test("A character that is cut by a limit is whole afterwards", arguments: 1...12)
    func cutCharacter(_ bytes: Int) {
        let limits = Self.passing(XMLLimits(maximumNameBytes: bytes))
        for xml in ["<éßçéßçéßç/>", "<a éßçéßçéßçéßç=''/>", "<éßçéßçéßç>é</éßçéßçéßç>"] {
            let text = Array("<s>\(xml)<b/>".utf8)
            let whole = ParserHarness.run(text, limits: limits)
            #expect(whole.error == nil && whole.elements.map(\.localName) == ["b"], "\(xml) \(whole)")
            #expect(ParserHarness.differences(text, from: whole, limits: limits).isEmpty)
        }
    }

    @Test(
        "What is passed over has a limit of its own: at it the element is passed over, past it the stream is refused"
    )
    func cap() {
        let limits = Self.passing(XMLLimits(maximumStanzaBytes: 100), atMost: 500)
        for (count, isWithin) in [(500, true), (501, false)] {
            let bytes = Array("<s>\(XMLLimitsTests.padded("<a>", to: count, "</a>"))<b/>".utf8)
            let whole = ParserHarness.run(bytes, limits: limits)
            #expect(whole.condition == (isWithin ? nil : "policy-violation"))
            #expect(Self.passed(whole).count == (isWithin ? 1 : 0))
            #expect(ParserHarness.differences(bytes, from: whole, limits: limits).isEmpty)
        }
        // Refused as soon as it is passed, and not at its end.
        let endless = Array("<s><a>\(String(repeating: "x", count: 600))".utf8)
        #expect(ParserHarness.run(endless, chunk: 50, limits: limits).condition == "policy-violation")
    }

    @Test(
        "What XMPP forbids is refused within it too (RFC 6120 §11.1)",
        arguments: [
            ("<!-- -->", "restricted-xml"), ("<?a ?>", "restricted-xml"), ("<!DOCTYPE a>", "restricted-xml"),
            ("&b;", "restricted-xml"), ("\u{1}", "not-well-formed"), ("<a b=c>", "not-well-formed"),
        ])
    func forbidden(_ markup: String, _ condition: String) {
        let limits = Self.passing(XMLLimits(maximumElements: 3))
        let bytes = Array("<s><a><b/><b/><b/><b/>\(markup)</a><c/>".utf8)
        let whole = ParserHarness.run(bytes, limits: limits)
        #expect(whole.condition == condition, "\(whole)")
        #expect(ParserHarness.differences(bytes, from: whole, limits: limits).isEmpty)
    }

    @Test("An error before the limit counts, however the bytes are cut")
    func errorBefore() {
        let limits = Self.passing(XMLLimits(maximumElements: 3))
        for start in ["<a b='' b=''>", "<a><p:b/>", "<a><b></a>"] {
            let bytes = Array("<s>\(start)<b/><b/><b/><b/></a><c/>".utf8)
            let whole = ParserHarness.run(bytes, limits: limits)
            #expect(whole.condition == "not-well-formed" && whole.elements.isEmpty, "\(whole)")
            #expect(ParserHarness.differences(bytes, from: whole, limits: limits).isEmpty)
        }
    }

    @Test("The header and the end of the stream are refused as ever")
    func root() {
        let limits = Self.passing(XMLLimits(maximumStanzaBytes: 100, maximumAttributes: 2, maximumNameBytes: 50))
        for xml in ["<s a='' b='' c=''>", XMLLimitsTests.padded("<s a='", to: 101, "'>"), "<s></" + Self.long] {
            let bytes = Array(xml.utf8)
            let whole = ParserHarness.run(bytes, limits: limits)
            #expect(whole.condition == "policy-violation", "\(xml.prefix(30)) \(whole)")
            #expect(ParserHarness.differences(bytes, from: whole, everyCut: false, limits: limits).isEmpty)
        }
    }

    @Test("Nothing of it is kept: no bytes, no names, no open elements")
    func keepsNothing() {
        let parser = XMLStreamParser(limits: Self.passing(XMLLimits(maximumStanzaBytes: 3_000), atMost: 10_000_000))
        _ = parser.feed(Array(ParserHarness.header.utf8)[...], .batch)
        for round in 0..<3 {
            _ = parser.feed(Array("<message><body>".utf8)[...], .batch)
            for number in 0..<20_000 {
                let outcome = parser.feed(Array("<n\(round)-\(number) a\(number)='\(number)'/>".utf8)[...], .batch)
                #expect(outcome.error == nil && parser.bufferedBytes <= 3_000)
            }
            #expect(parser.bufferedBytes == 0 && parser.dictionaryNames < 100)
            let outcome = parser.feed(Array("</body></message><message/>".utf8)[...], .batch)
            #expect(outcome.events.count == 2 && parser.isBetweenElements)
        }
        #expect(parser.dictionaryNames < 100)
    }

    @Test(
        "Large hostile inputs of a session are passed over, and the next stanza arrives",
        arguments: try VectorFile.rows("xml/generated.tsv").map(XMLLimitsTests.Recipe.init)
            .filter {
                $0.columns[6].hasPrefix("close:") && !["g-preauth-64k", "g-header-endless"].contains($0.columns[0])
            }
    )
    func generated(recipe: XMLLimitsTests.Recipe) {
        var bytes = recipe.bytes
        let next = Array("<message xmlns='jabber:client'><body>next</body></message>".utf8)
        let refused = ParserHarness.run(bytes, limits: .session)
        #expect(refused.condition == "policy-violation")
        bytes += next
        let whole = ParserHarness.run(bytes, limits: XMLLimits.session.passingOver)
        // Some of them do not end: then what follows is part of them.
        if ParserHarness.run(recipe.bytes, limits: XMLLimits.session.passingOver).events.count > refused.events.count {
            #expect(whole.error == nil && whole.messages.count == 1, "\(whole.error.debugDescription)")
            #expect(Self.passed(whole).count == 1)
        }
        for size in [1_500, 65_536] {
            #expect(ParserHarness.run(bytes, chunk: size, limits: XMLLimits.session.passingOver) == whole)
        }
    }
}
