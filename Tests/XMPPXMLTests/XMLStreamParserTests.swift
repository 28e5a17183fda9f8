// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import XMPPTestSupport

@testable import XMPPXML

@Suite("The stream parser")
struct XMLStreamParserTests {
    static let header = Array(ParserHarness.header.utf8)

    /// A parser whose header was read.
    static func open(_ limits: XMLLimits = .session) -> XMLStreamParser {
        let parser = XMLStreamParser(limits: limits)
        _ = parser.feed(header[...], .batch)
        return parser
    }

    @Test("A stream opens, brings elements and closes (RFC 6120 §4.2)")
    func events() throws {
        let result = ParserHarness.run(ParserHarness.header + " <a b='&amp;&lt;'/>\n<b>x<c/>y</b></stream:stream> \n")
        var header = Element(
            "stream", namespace: Element.streamNamespace,
            attributes: ["from": "example.net", "id": "s1", "version": "1.0"])
        #expect(result.events.first == .streamOpened(header, contentNamespace: "jabber:client"))
        var second = Element("b", namespace: "jabber:client", text: "x")
        second.append(Element("c", namespace: "jabber:client"))
        second.append(text: "y")
        #expect(result.elements == [Element("a", namespace: "jabber:client", attributes: ["b": "&<"]), second])
        #expect(result.events.last == .streamClosed)
        #expect(result.error == nil)
        header["id"] = "s2"
        #expect(result.events.first != .streamOpened(header, contentNamespace: "jabber:client"))
    }

    @Test("Text, references and CDATA sections in a row are one text node (XML §2.4, §2.7, §4.1)")
    func mixedText() throws {
        let element = try Element.parse(
            "<a b='&#x26;lt;&amp;&#10;x\ny'>1&amp;2<![CDATA[<3>&lt;]]]]><![CDATA[>]]>&#52;é</a>")
        #expect(element.nodes == [.text("1&2<3>&lt;]]>4é")])
        // A line feed in an attribute is a space unless it came by reference (XML §3.3.3).
        #expect(element["b"] == "&lt;&\nx y")
    }

    @Test("A header without default namespace has an empty content namespace; an empty root opens and closes")
    func headers() {
        let result = ParserHarness.run("<s:stream xmlns:s='urn:s'/>")
        #expect(
            result.events == [
                .streamOpened(Element("stream", namespace: "urn:s"), contentNamespace: ""), .streamClosed,
            ])
        #expect(ParserHarness.run("<a xmlns='urn:a' xmlns:b='urn:b'>").events.count == 1)
    }

    @Test("One event is taken to its last byte, and not one more (RFC 6120 §5.3.3)")
    func oneEvent() {
        let parser = Self.open()
        let proceed = "  <proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls' a='>'/>"
        for trailer: [UInt8] in [[], [0x16, 0x03, 0x01, 0x00], Array("<x/>".utf8), [0xFF, 0x00], Array("  ".utf8)] {
            let outcome = parser.feed((Array(proceed.utf8) + trailer)[...], .oneEvent)
            #expect(outcome.events.count == 1 && outcome.error == nil)
            #expect(outcome.consumed == proceed.utf8.count)
        }
        let inPieces = Array(proceed.utf8) + [0x16]
        for cut in 1..<proceed.utf8.count {
            let first = parser.feed(inPieces[..<cut], .oneEvent)
            #expect(first == .init(events: [], consumed: cut, error: nil))
            let second = parser.feed(inPieces[cut...], .oneEvent)
            #expect(second.events.count == 1 && second.consumed == proceed.utf8.count - cut && second.error == nil)
        }
    }

    @Test("One event at a time, a stream brings the same events, the root's end among them")
    func eventByEvent() {
        let bytes = Array((ParserHarness.header + "<a/><b>x<c/></b> <d/></stream:stream>").utf8)
        let whole = ParserHarness.run(bytes)
        #expect(whole.events.count == 5 && whole.error == nil)
        #expect(ParserHarness.differences(bytes, from: whole).isEmpty)
    }

    @Test("A slice is read from where it starts")
    func slices() {
        let bytes = Array("junk".utf8) + Self.header + Array("junk".utf8)
        let outcome = XMLStreamParser().feed(bytes[4..<(bytes.count - 4)], .batch)
        #expect(outcome.events.count == 1 && outcome.consumed == Self.header.count)
    }

    @Test("After an error nothing is taken and the error stays")
    func afterError() {
        let parser = Self.open()
        let first = parser.feed(Array("<a/><b></c><d/>".utf8)[...], .batch)
        #expect(first.events.count == 1 && first.error != nil)
        let second = parser.feed(Array("<d/>".utf8)[...], .batch)
        #expect(second == .init(events: [], consumed: 0, error: first.error))
    }

    @Test("After the root's end white space passes, anything else is an error (RFC 6120 §4.4)")
    func afterEnd() {
        let parser = Self.open()
        #expect(parser.feed(Array("</stream:stream> \r\n".utf8)[...], .batch).events == [.streamClosed])
        #expect(parser.feed(Array(" ".utf8)[...], .batch) == .init(events: [], consumed: 1, error: nil))
        #expect(parser.feed(Array("<a/>".utf8)[...], .batch).error != nil)
    }

    @Test("An error is found with the tag that has it, not with the end of its stanza")
    func promptness() {
        for xml in [
            "<a><b></a>", "<a b=''b=''>", "<a b='' b=''>", "<x:a>", "<a>&#0;<b>", "<a>&#xD800;</a>", "<a>]]><b>",
            "<a><!",
            "<a><!-", "<a>&nbsp;", "<a>& ", "</a>", "<a b=c", "<a b='<", "<1", "<a/ ", "< ", "<a><?p", "<a><![CDAT ",
            "</ ",
        ] where xml != "<a><!" {
            #expect(Self.open().feed(Array(xml.utf8)[...], .batch).error != nil, "\(xml)")
        }
    }

    @Test("An entity that is not predefined is restricted XML, in text and in attributes (RFC 6120 §11.1)")
    func entities() {
        for xml in ["<a>&nbsp;</a>", "<a b='&x;'/>", "<a>&ampx;</a>", "<a>&AMP;</a>", "<a>&verylongname;</a>"] {
            let bytes = Self.header + Array(xml.utf8)
            let whole = ParserHarness.run(bytes)
            #expect(whole.condition == "restricted-xml", "\(xml): \(whole)")
            #expect(ParserHarness.differences(bytes, from: whole).isEmpty)
        }
    }

    @Test(
        "Only a declaration of XML 1.0 in UTF-8 is taken (RFC 6120 §11.5, §11.6)",
        arguments: [
            ("<?xml version='1.0'?>", nil), ("<?xml version=\"1.0\" encoding=\"utf-8\" standalone=\"yes\"?>", nil),
            ("<?xml  version = '1.0'\n?>", nil), ("<?xml version='1.0' encoding='UTF-8' ?>", nil),
            ("<?xml version='1.0' standalone='no'?>", nil), ("<?xml version='1.1'?>", "unsupported-version"),
            ("<?xml version='1.0' encoding='utf-16'?>", "unsupported-encoding"),
            ("<?xml version='1.0' encoding=''?>", "unsupported-encoding"), ("<?xml ?>", "not-well-formed"),
            ("<?xml encoding='UTF-8'?>", "not-well-formed"),
            ("<?xml version='1.0'encoding='UTF-8'?>", "not-well-formed"),
            ("<?xml version='1.0' standalone='maybe'?>", "not-well-formed"),
            ("<?xml version='1.0?>", "not-well-formed"),
            ("<?xml version='1.0' standalone='no' encoding='UTF-8'?>", "not-well-formed"),
            ("<?xml version='1.0' x='y'?>", "not-well-formed"), ("<?xml version=1.0?>", "not-well-formed"),
            ("<?xml version='1.0'\(String(repeating: " ", count: 300))?>", "not-well-formed"),
            ("<?XML version='1.0'?>", "restricted-xml"), ("<?x?>", "restricted-xml"),
            ("<?xmlx version='1.0'?>", "restricted-xml"),
        ] as [(String, String?)])
    func declarations(declaration: String, condition: String?) {
        let bytes = Array((declaration + "<s xmlns='urn:s'><a/>").utf8)
        let whole = ParserHarness.run(bytes)
        #expect(whole.condition == condition, "\(whole)")
        #expect(whole.events.count == (condition == nil ? 2 : 0))
        #expect(ParserHarness.differences(bytes, from: whole).isEmpty)
    }

    @Test(
        "A sequence that is no UTF-8 or no XML character ends the stream (RFC 3629, XML §2.2)",
        arguments: try VectorFile.rows("xml/utf8.tsv"))
    func utf8(row: [String]) {
        let sequence = row[0].split(separator: " ").compactMap { UInt8($0, radix: 16) }
        let bytes = Self.header + Array("<message><body>".utf8) + sequence + Array("</body></message><message/>".utf8)
        let whole = ParserHarness.run(bytes)
        if row[1] == "valid" && row[2] == "yes" {
            #expect(whole.error == nil && whole.messages.count == 2, "\(whole)")
            let expected = String(decoding: sequence, as: UTF8.self).replacing("\r", with: "\n")
            #expect(Array((whole.messages.first?.children.first?.text ?? "").utf8) == Array(expected.utf8))
        } else {
            #expect(whole.condition == (row[1] == "valid" ? "not-well-formed" : "unsupported-encoding"), "\(whole)")
            #expect(whole.messages.isEmpty)
        }
        #expect(ParserHarness.differences(bytes, from: whole).isEmpty)
    }

    @Test("White space before the root has a limit, however it is cut, the XML declaration between or not")
    func spaceBeforeRoot() {
        let root = "<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'>"
        let most = String(repeating: "\n", count: XMLLimits.maximumSpaceBeforeRoot)
        for (text, isTaken) in [
            (most + root, true), (most + " " + root, false), ("<?xml version='1.0'?>" + most + root, true),
            ("<?xml version='1.0'?>" + most + " " + root, false),
        ] {
            for size in [1, 700, 100_000] {
                let parser = XMLStreamParser()
                var (rest, opened, error) = (Array(text.utf8)[...], 0, XMLStreamError?.none)
                while !rest.isEmpty, error == nil {
                    let outcome = parser.feed(rest.prefix(size), .batch)
                    opened += outcome.events.count
                    error = outcome.error
                    rest = rest.dropFirst(size)
                }
                #expect(opened == (isTaken ? 1 : 0) && (error == nil) == isTaken)
                if !isTaken {
                    #expect(error == .limitExceeded("more than 1024 bytes of white space before the root"))
                }
            }
        }
    }

    @Test("White space between stanzas costs no memory (RFC 6120 §4.6.1)")
    func keepalives() {
        let parser = Self.open()
        let space = [UInt8](repeating: 0x20, count: 65_536)
        for _ in 0..<64 {
            #expect(parser.feed(space[...], .batch) == .init(events: [], consumed: space.count, error: nil))
            #expect(parser.bufferedBytes == 0)
        }
        #expect(parser.feed((space + Array("<".utf8))[...], .batch).error == nil)
        #expect(parser.bufferedBytes == 1)
        #expect(parser.feed(Array("a/>".utf8)[...], .batch).events.count == 1)
        #expect(parser.bufferedBytes == 0)
    }

    @Test("Ever new names do not fill the parser: its context is renewed, invisibly")
    func renewal() {
        let parser = Self.open()
        var received = 0
        var most = 0
        for batch in 0..<400 {
            var xml = ""
            for index in 0..<500 { xml += "<n\(batch)x\(index) a\(index)='1'/>" }
            let outcome = parser.feed(Array(xml.utf8)[...], .batch)
            #expect(outcome.error == nil)
            received += outcome.events.count
            most = max(most, parser.dictionaryNames)
        }
        #expect(received == 200_000)
        #expect(parser.renewals > 10)
        // The limit, and what one hand-over of 32 KiB may add to it.
        #expect(most < XMLStreamParser.maximumDictionaryNames + 4_096)
    }

    @Test("Few but long names renew the context too")
    func renewalByBytes() {
        let parser = Self.open()
        for index in 0..<1_500 {
            let name = "n\(index)" + String(repeating: "x", count: 1_000)
            #expect(parser.feed(Array("<\(name)/>".utf8)[...], .batch).events.count == 1)
            #expect(parser.dictionaryNames < 1_000)
        }
        #expect(parser.renewals > 1)
    }

    @Test("A renewed context still knows the prefixes of the stream header, and one call may need several renewals")
    func renewalKeepsPrefixes() throws {
        var xml = ParserHarness.header
        for index in 0..<30_000 { xml += "<stream:n\(index)/>" }
        let bytes = Array(xml.utf8)
        let parser = XMLStreamParser()
        let outcome = parser.feed(bytes[...], .batch)
        #expect(outcome.error == nil && outcome.consumed == bytes.count)
        #expect(outcome.events.count == 30_001)
        #expect(parser.renewals > 1)
        let last = try #require(outcome.events.last)
        #expect(last == .element(Element("n29999", namespace: Element.streamNamespace)))
        #expect(parser.feed(Array("</stream:stream>".utf8)[...], .batch).events == [.streamClosed])
        #expect(parser.feed(Array("x".utf8)[...], .batch).error != nil)
    }

    @Test("A large stanza leaves no large buffer behind")
    func largeStanza() {
        let parser = Self.open()
        let stanza = Array("<a>\(String(repeating: "x", count: 500_000))</a>".utf8)
        #expect(parser.feed(stanza[...], .batch).events.count == 1)
        for start in stride(from: 0, to: stanza.count, by: 1_000) {
            #expect(parser.feed(stanza[start..<min(start + 1_000, stanza.count)], .batch).error == nil)
        }
        #expect(parser.renewals == 2 && parser.bufferedBytes == 0)
    }

    @Test("Random streams bring the same events at every chunking", arguments: Array(0..<4))
    func randomStreams(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            var elements: [Element] = []
            var bytes = Self.header
            for _ in 0..<3 {
                let element = RandomTree.element(&generator)
                elements.append(element)
                bytes += try XMLSerializer.serialize(element, defaultNamespace: "jabber:client", isInStream: true)
                if Bool.random(using: &generator) { bytes.append(0x0A) }
            }
            let whole = ParserHarness.run(bytes)
            #expect(whole.elements == elements && whole.error == nil)
            #expect(ParserHarness.differences(bytes, from: whole, everyCut: false).isEmpty)
        }
    }

    @Test(
        "Damaged streams bring the same events and error at every chunking, and trap nowhere", arguments: Array(0..<8))
    func damagedStreams(seed: UInt64) throws {
        var generator = SeededGenerator(seed: 1_000 + seed)
        let alphabet = Array("<>/&;='\"!?[]-:x# \u{0}\n".utf8) + [0x80, 0xC3, 0xE2, 0xEF, 0xFF]
        for _ in 0..<250 {
            var bytes = Self.header
            for _ in 0..<2 {
                bytes += try XMLSerializer.serialize(
                    RandomTree.element(&generator), defaultNamespace: "jabber:client", isInStream: true)
            }
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[place] = alphabet.randomElement(using: &generator) ?? 0
                case 1: bytes.insert(alphabet.randomElement(using: &generator) ?? 0, at: place)
                default: bytes.remove(at: place)
                }
            }
            let whole = ParserHarness.run(bytes)
            #expect(
                ParserHarness.differences(bytes, from: whole, everyCut: false) == [],
                "\(String(decoding: bytes, as: UTF8.self))")
        }
    }
}
