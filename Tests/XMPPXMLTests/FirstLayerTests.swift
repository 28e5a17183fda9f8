// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import XMPPXML

/// libxml2 would refuse most of this as well, but some of it later, by another name, or by a name that depends on how
/// the network cut the bytes.
@Suite("What is refused before libxml2 sees it")
struct FirstLayerTests {
    @Test(
        "each thing that XMPP forbids is refused as what it is, at every cut (RFC 6120 §11.1, §11.6)",
        arguments: [
            ("<s><a><!-- x --></a>", "restricted-xml"), ("<s><!-- x -->", "restricted-xml"),
            ("<!-- x --><s>", "restricted-xml"), ("<s><a><?x y?></a>", "restricted-xml"),
            ("<!DOCTYPE s><s>", "restricted-xml"), ("<s><a>&nbsp;</a>", "restricted-xml"),
            ("<s><a b='&x;'/>", "restricted-xml"), ("<s><a>&ampere;</a>", "restricted-xml"),
            ("<s>text", "bad-format"), ("<s><![CDATA[text]]>", "bad-format"), ("<s><![CDATA[]]>", "bad-format"),
            ("<![CDATA[text]]><s>", "not-well-formed"), ("text<s>", "not-well-formed"),
            ("<s></s>text", "not-well-formed"), ("<s></s><a/>", "not-well-formed"),
        ])
    func condition(_ xml: String, _ condition: String) {
        let bytes = Array(xml.utf8)
        let whole = ParserHarness.run(bytes)
        #expect(whole.condition == condition, "\(whole)")
        #expect(whole.elements.isEmpty)
        #expect(ParserHarness.differences(bytes, from: whole).isEmpty)
    }

    @Test(
        "broken UTF-8 is an encoding that is not supported, at every cut (RFC 6120 §11.6)",
        arguments: [
            [0xC3, 0x28], [0xC0, 0x80], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF0, 0x80, 0x80, 0x80],
            [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0x80], [0xFF], [0xE2, 0x82, 0x3C],
        ] as [[UInt8]])
    func encoding(_ octets: [UInt8]) {
        for (before, after) in [
            ("<s><a>", "</a>"), ("<s><a b='", "'/>"), ("<s><a><![CDATA[", "]]></a>"), ("<s><a", "/>"),
        ] {
            let bytes = Array(before.utf8) + octets + Array(after.utf8)
            let whole = ParserHarness.run(bytes)
            #expect(whole.condition == "unsupported-encoding", "\(octets) in \(before): \(whole)")
            #expect(ParserHarness.differences(bytes, from: whole).isEmpty)
        }
    }

    @Test("a byte that begins no character, or one that XML lacks, is refused by itself (XML 1.0 §2.2)")
    func validator() throws {
        func accepts(_ octets: [UInt8]) -> Bool {
            var validator = UTF8Validator()
            return (try? octets.forEach { try validator.accept($0) }) != nil && validator.isIdle
        }
        for byte in UInt8(0)..<0x20 { #expect(accepts([byte]) == [0x09, 0x0A, 0x0D].contains(byte), "\(byte)") }
        for value in [0xFFFD, 0xFFFE, 0xFFFF, 0xE000, 0x1FFFE, 0x10FFFF] as [UInt32] {
            let scalar = try #require(Unicode.Scalar(value))
            #expect(accepts(Array(String(scalar).utf8)) == (value != 0xFFFE && value != 0xFFFF), "\(value)")
        }
    }

    @Test("a declaration that does not end is not waited for (RFC 6120 §13.12)")
    func endlessDeclaration() {
        let bytes = Array(("<?xml version='1.0'" + String(repeating: " ", count: 300)).utf8)
        #expect(ParserHarness.run(bytes).condition == "not-well-formed")
        #expect(ParserHarness.run(bytes, chunk: 1).condition == "not-well-formed")
    }

    @Test("the first byte of markup behind the end of the stream is refused (RFC 6120 §4.4)")
    func afterTheEnd() {
        #expect(ParserHarness.run(Array("<s></s> \n<".utf8)).condition == "not-well-formed")
        #expect(ParserHarness.run(Array("<s></s> \n".utf8)).condition == nil)
    }
}
