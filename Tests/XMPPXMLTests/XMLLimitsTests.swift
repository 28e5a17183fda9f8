// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import XMPPTestSupport

@testable import XMPPXML

@Suite("Limits of the parser, each at the limit and one past it")
struct XMLLimitsTests {
    static let header = ParserHarness.header

    /// A limit and inputs that reach it and pass it by one.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let limits: XMLLimits
        let within: String
        let past: String
        var testDescription: String { name }
    }

    static func padded(_ before: String, to bytes: Int, _ after: String) -> String {
        before + String(repeating: "a", count: bytes - before.utf8.count - after.utf8.count) + after
    }

    static let cases: [Case] = [
        Case(
            name: "bytes in text", limits: XMLLimits(maximumStanzaBytes: 300),
            within: padded("<a>", to: 300, "</a>"), past: padded("<a>", to: 301, "</a>")),
        Case(
            name: "bytes in an attribute", limits: XMLLimits(maximumStanzaBytes: 300),
            within: padded("<a b='", to: 300, "'/>"), past: padded("<a b='", to: 301, "'/>")),
        Case(
            name: "bytes of an element in two tags", limits: XMLLimits(maximumStanzaBytes: 300),
            within: padded("<a><b/>é", to: 300, "</a>"), past: padded("<a><b/>é", to: 301, "</a>")),
        Case(
            name: "bytes in CDATA", limits: XMLLimits(maximumStanzaBytes: 300),
            within: padded("<a><![CDATA[", to: 300, "]]></a>"), past: padded("<a><![CDATA[", to: 301, "]]></a>")),
        Case(
            name: "depth", limits: XMLLimits(maximumDepth: 5),
            within: "<a><a><a><a><a/></a></a></a></a>", past: "<a><a><a><a><a><a/></a></a></a></a></a>"),
        Case(
            name: "attributes", limits: XMLLimits(maximumAttributes: 4),
            within: "<a a='' b='' c='' d=''/>", past: "<a a='' b='' c='' d='' e=''/>"),
        Case(
            name: "namespace declarations", limits: XMLLimits(maximumAttributes: 4),
            within: "<a xmlns='u' xmlns:b='u' xmlns:c='u' d=''/>",
            past: "<a xmlns='u' xmlns:b='u' xmlns:c='u' xmlns:d='u' d=''/>"),
        Case(
            name: "elements", limits: XMLLimits(maximumElements: 5),
            within: "<a><b/><b/><b><c/></b></a><a/>", past: "<a><b/><b/><b><c/><c/></b></a>"),
        Case(
            name: "element name", limits: XMLLimits(maximumNameBytes: 20),
            within: padded("<", to: 21, "") + "/>", past: padded("<", to: 22, "") + "/>"),
        Case(
            name: "attribute name", limits: XMLLimits(maximumNameBytes: 20),
            within: padded("<a ", to: 23, "") + "=''/>", past: padded("<a ", to: 24, "") + "=''/>"),
        Case(
            name: "namespace", limits: XMLLimits(maximumNamespaceBytes: 20),
            within: padded("<a xmlns='", to: 30, "'/>") + padded("<a xmlns='", to: 30, "") + "'/>",
            past: padded("<a xmlns='", to: 31, "") + "'/>"),
        Case(
            name: "namespace of a prefix", limits: XMLLimits(maximumNamespaceBytes: 20),
            within: padded("<p:a  xmlns:p=\"", to: 35, "") + "\" b=''/>",
            past: padded("<p:a  xmlns:p=\"", to: 36, "") + "\" b=''/>"),
        Case(
            name: "namespace with a reference and a long character", limits: XMLLimits(maximumNamespaceBytes: 20),
            within: padded("<a xmlns='", to: 24, "") + "&amp;é'/>",
            past: padded("<a xmlns='", to: 25, "") + "&amp;é'/>"),
        Case(
            name: "namespace behind other attributes", limits: XMLLimits(maximumNamespaceBytes: 20),
            within:
                "<a xmln='\(padded("", to: 40, ""))' xmlnsp='\(padded("", to: 40, ""))' xmlns='u' b='&lt;23456789012345678901'/>",
            past: "<a xmln='\(padded("", to: 40, ""))' xmlns='\(padded("", to: 21, ""))'/>"),
    ]

    @Test("A limit lets pass what reaches it and refuses one more, at every chunking", arguments: cases)
    func limit(test: Case) {
        for (xml, isWithin) in [(test.within, true), (test.past, false)] {
            // A root so short that none of the limits concerns it.
            let bytes = Array("<s>\(xml)".utf8)
            let whole = ParserHarness.run(bytes, limits: test.limits)
            #expect((whole.error == nil) == isWithin, "\(whole)")
            if !isWithin {
                #expect(whole.condition == "policy-violation", "\(whole)")
                #expect(whole.elements.isEmpty)
            }
            #expect(ParserHarness.differences(bytes, from: whole, limits: test.limits).isEmpty)
        }
    }

    @Test("The stream header counts like a first-level element")
    func header() {
        let limits = XMLLimits(maximumStanzaBytes: 100)
        let within = Array(Self.padded("  <s a='", to: 102, "'>").utf8)
        #expect(ParserHarness.run(within, limits: limits).events.count == 1)
        let past = Array(Self.padded("  <s a='", to: 103, "'>").utf8)
        let whole = ParserHarness.run(past, limits: limits)
        #expect(whole.condition == "policy-violation" && whole.events.isEmpty)
        #expect(ParserHarness.differences(past, from: whole, limits: limits).isEmpty)
    }

    @Test("An unfinished tag is refused as soon as it is too long, not when it ends")
    func unfinished() {
        for opening in ["<a b='", "<a>", "<a", "<a b='' ", "</s", "<a></a", "<a><![CDATA[", "<a>&#"] {
            let bytes = Array(("<s>" + opening + String(repeating: "0", count: 400)).utf8)
            let limits = XMLLimits(maximumStanzaBytes: 200, maximumNameBytes: 150)
            #expect(ParserHarness.run(bytes, chunk: 50, limits: limits).error != nil, "\(opening)")
        }
    }

    @Test("Limits may change between stanzas: larger after authentication")
    func change() {
        let parser = XMLStreamParser(limits: .beforeAuthentication)
        let stanza = Array("<a>\(String(repeating: "x", count: 20_000))</a>".utf8)
        _ = parser.feed(Array(Self.header.utf8)[...], .batch)
        parser.limits = .session
        #expect(parser.feed(stanza[...], .batch).events.count == 1)
        parser.limits = .beforeAuthentication
        #expect(parser.feed(stanza[...], .batch).error != nil)
    }

    @Test("Limits of any size, none and negative included, trap nowhere")
    func extremes() {
        for value in [Int.min, -1, 0, 1, Int.max] {
            let limits = XMLLimits(
                maximumStanzaBytes: value, maximumDepth: value, maximumAttributes: value, maximumElements: value,
                maximumNameBytes: value, maximumNamespaceBytes: value)
            let result = ParserHarness.run(Self.header + "<a b='c'><d/></a>", limits: limits)
            #expect((result.error == nil) == (value == .max))
        }
    }

    @Test("No limit goes past what libxml2 can do: an element is delivered or refused, never both")
    func ceiling() {
        let limits = XMLLimits(maximumStanzaBytes: .max, maximumDepth: 3_000, maximumElements: .max)
        for (bytes, isWithin) in [(9_000_000, true), (9_000_001, false)] {
            let stanza = Self.padded("<a b='", to: bytes, "'/>")
            for chunk in [65_536, 20_000_000] {
                let result = ParserHarness.run(Array((Self.header + stanza).utf8), chunk: chunk, limits: limits)
                #expect(result.elements.count == (isWithin ? 1 : 0))
                #expect(result.condition == (isWithin ? nil : "policy-violation"))
            }
        }
        let deep = String(repeating: "<a>", count: 2_000) + String(repeating: "</a>", count: 2_000)
        #expect(ParserHarness.run(Self.header + deep, limits: limits).elements.count == 1)
    }

    struct Recipe: Sendable, CustomTestStringConvertible {
        let columns: [String]
        var testDescription: String { columns[0] }
        var bytes: [UInt8] {
            let unit = columns[3]
            let count = Int(columns[4]) ?? 0
            var text = columns[2]
            if unit.contains("{i}") {
                for index in 0..<count { text += unit.replacing("{i}", with: "\(index)") }
            } else {
                text += String(repeating: unit, count: count)
            }
            return Array((text + columns[5]).utf8)
        }
    }

    @Test(
        "Large hostile inputs are refused or delivered (RFC 6120 §4.9.3.14)",
        arguments: try VectorFile.rows("xml/generated.tsv").map(Recipe.init))
    func generated(recipe: Recipe) throws {
        let isEarly = recipe.columns[0] == "g-preauth-64k" || recipe.columns[0] == "g-header-endless"
        let limits = isEarly ? XMLLimits.beforeAuthentication : .session
        let bytes = recipe.bytes
        let started = ContinuousClock.now
        let whole = ParserHarness.run(bytes, limits: limits)
        if recipe.columns[6].hasPrefix("close:") {
            #expect(whole.condition == "policy-violation", "\(whole.error.debugDescription)")
            #expect(whole.messages.isEmpty)
        } else {
            #expect("deliver:\(whole.messages.count)" == recipe.columns[6])
            #expect(whole.error == nil)
        }
        // Far below the quadratic time that an attack is after, far above what a loaded machine needs.
        #expect(ContinuousClock.now - started < .seconds(20))
        for size in [1500, 65_536] { #expect(ParserHarness.run(bytes, chunk: size, limits: limits) == whole) }
    }
}
