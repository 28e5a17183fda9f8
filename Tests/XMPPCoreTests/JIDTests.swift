// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import XMPPCore
import XMPPTestSupport

@Suite("JID (RFC 7622)")
struct JIDTests {
    @Test("the table of vectors is there")
    func table() {
        #expect(JIDVector.all.count == 150)
    }

    @Test("each part is prepared by its own rules (RFC 7622 §3)", arguments: JIDVector.all.filter(\.isValid))
    func valid(vector: JIDVector) throws {
        let jid = try JID(utf8: vector.input)
        #expect(jid.localpart.map(octets) == vector.localpart.map(octets))
        #expect(octets(jid.domainpart) == octets(vector.domainpart))
        #expect(jid.resourcepart.map(octets) == vector.resourcepart.map(octets))
        // Preparation is idempotent, and the parts make the same JID as the whole.
        let again = try JID(jid.description)
        #expect(octets(again.description) == octets(jid.description))
        #expect(again == jid)
        let parts = try JID(localpart: jid.localpart, domainpart: jid.domainpart, resourcepart: jid.resourcepart)
        #expect(parts == jid)
        #expect(parts.hashValue == jid.hashValue)
    }

    @Test("what breaks a rule is no JID (RFC 7622 §3)", arguments: JIDVector.all.filter { !$0.isValid })
    func invalid(vector: JIDVector) {
        #expect(throws: JIDError.self) { try JID(utf8: vector.input) }
    }

    @Test("a JID has the parts it was written with, and gives them back in other shapes")
    func shapes() throws {
        let full = try JID("juliet@example.org/balcony")
        #expect(full.isFull && !full.isBare && !full.isDomain)
        #expect(full.bare.description == "juliet@example.org")
        #expect(full.bare.isBare && full.bare.resourcepart == nil)
        #expect(full.domain.description == "example.org")
        #expect(full.domain.isDomain && full.domain.localpart == nil)
        #expect(try full.withResource("orchard").description == "juliet@example.org/orchard")
        #expect(try full.bare.withResource("balcony") == full)
        #expect(try JID("example.org").withResource("a/b@c") == JID("example.org/a/b@c"))
        #expect(full.bare.bare == full.bare)
        let service = try JID("example.org/x")
        #expect(service.bare == full.domain && service.localpart == nil && !service.isDomain)
        #expect(service.domain == full.domain)
    }

    @Test("a part given by itself is never cut at a separator (RFC 7622 §3.1)")
    func parts() throws {
        #expect(throws: JIDError(part: .localpart, reason: .disallowed("/"), input: "b/d")) {
            try JID(localpart: "b/d", domainpart: "example.net")
        }
        #expect(throws: JIDError(part: .localpart, reason: .disallowed("@"), input: "b@d")) {
            try JID(localpart: "b@d", domainpart: "example.net")
        }
        #expect(throws: JIDError(part: .localpart, reason: .empty, input: "")) {
            try JID(localpart: "", domainpart: "example.net")
        }
        #expect(throws: JIDError(part: .resourcepart, reason: .empty, input: "")) {
            try JID(domainpart: "example.net", resourcepart: "")
        }
        #expect(throws: JIDError(part: .domainpart, reason: .disallowed("/"), input: "example.net/a")) {
            try JID(domainpart: "example.net/a")
        }
        #expect(throws: JIDError.self) { try JID("juliet@example.org").withResource("") }
        #expect(throws: JIDError.self) { try JID("juliet@example.org").withResource("a\u{0}") }
    }

    @Test("the error names the part and what is wrong with it, in a sentence safe to print")
    func errors() {
        func sentence(_ string: String) -> String? {
            do {
                _ = try JID(string)
                return nil
            } catch {
                return error.description
            }
        }
        let space = "localpart of \"foo bar@example.org\" contains U+0020, which is not allowed"
        #expect(sentence("foo bar@example.org") == space)
        #expect(sentence("a@") == "domainpart of \"a@\" is empty")
        #expect(sentence("a@b/") == "resourcepart of \"a@b/\" is empty")
        #expect(sentence("a&b@c") == "localpart of \"a&b@c\" contains U+0026 (&), which is not allowed")
        let escape = "resourcepart of \"a@b/\\u{1B}[2J\" contains U+001B, which is not allowed"
        #expect(sentence("a@b/\u{1B}[2J") == escape)
        #expect(sentence("a@b..c") == "domainpart of \"a@b..c\" has the label \"\", which no domain name can have")
        let long = sentence("a b" + String(repeating: "x", count: 5000) + "@c")
        #expect((long?.count ?? 0) < 200)
        #expect(sentence("a@b/\u{202E}x")?.contains("\u{202E}") == false)
    }

    @Test(
        "the domain goes to DNS and TLS as A-labels (RFC 5890 §2.3.2.1)",
        arguments: [
            ("a@bücher.ch", "xn--bcher-kva.ch"), ("a@XN--BCHER-KVA.CH", "xn--bcher-kva.ch"),
            ("example.org", "example.org"),
            ("faß.de", "xn--fa-hia.de"), ("שלום.example", "xn--9dbne9b.example"), ("[::1]", "[::1]"),
            ("a.BÜCHER.パ.jp", "a.xn--bcher-kva.xn--odk.jp"),
        ])
    func ascii(input: String, expected: String) throws {
        #expect(try JID(input).asciiDomain == expected)
    }

    @Test(
        "an A-label must be the one that its U-label has (RFC 5891 §5.4)",
        arguments: [
            "xn--a", "xn--abc", "xn--ls8h.la", "xn--BCHER-KVA1.ch", "xn--a-.org", "xn--fu-8la5641y.org", "a@xn--0",
            "xn--zzzzzz",
            "xn--\u{FC}.ch",
        ])
    func falseALabels(input: String) {
        #expect(throws: JIDError.self) { try JID(input) }
    }

    @Test("limits count octets after preparation, at the limit and one past it (RFC 7622 §3.2 to §3.4)")
    func limits() throws {
        let most = String(repeating: "x", count: 1023)
        #expect(try JID("\(most)@example.org/\(most)").localpart?.utf8.count == 1023)
        #expect(throws: JIDError.self) { try JID("\(most)x@example.org") }
        #expect(throws: JIDError.self) { try JID("example.org/\(most)x") }
        let label = String(repeating: "l", count: 63)
        let longest = [label, label, label, String(repeating: "l", count: 61)].joined(separator: ".")
        #expect(try JID("\(most)@\(longest)/\(most)").domainpart.utf8.count == 253)
        #expect(try JID(longest.uppercased() + ".").domainpart == longest)
        #expect(throws: JIDError.self) { try JID(longest + "l") }
        #expect(throws: JIDError.self) { try JID(String(repeating: "é", count: 3_000_000) + "@example.org") }
        #expect(throws: JIDError.self) { try JID(String(repeating: "é.", count: 3_000_000)) }
    }

    @Test(
        "labels satisfy the Bidi Rule (RFC 5893 §2)", arguments: ["\u{770}3\u{663}", "\u{5D0}a", "a\u{5D0}", "\u{663}"])
    func bidirectionalLabels(label: String) {
        #expect(throws: JIDError(part: .domainpart, reason: .bidirectional, input: "a@\(label).org")) {
            try JID("a@\(label).org")
        }
    }

    @Test("whatever parses prints as itself, equals itself and keeps its A-labels, and nothing traps (RFC 7622 §3)")
    func properties() throws {
        var generator = SeededGenerator(seed: 7622)
        let pieces = [
            "a", "Z", "0", "-", ".", ".", "@", "/", " ", "é", "E\u{301}", "ß", "ς", "Σ", "\u{130}", "\u{5D0}",
            "\u{627}", "\u{661}",
            "Ａ", "\u{FF61}", "\u{3002}", "パ", "\u{FF8A}\u{FF9F}", "xn--", "bcher-kva", "한", "\u{1100}\u{1161}",
            "l\u{B7}l", "♚",
            "\u{200D}", "\u{0}", "[", "::1", "]", "\u{345}", "\u{1FB3}", "\u{9DF}", "\u{A0}", "😀",
        ]
        var parsed = 0
        for _ in 0..<50_000 {
            let string = (0..<Int.random(in: 1...8, using: &generator)).map { _ in
                pieces[Int.random(in: 0..<pieces.count, using: &generator)]
            }.joined()
            guard let jid = try? JID(string) else { continue }
            parsed += 1
            let again = try JID(jid.description)
            #expect(octets(again.description) == octets(jid.description), "\(string)")
            #expect(again == jid && again.hashValue == jid.hashValue)
            #expect(again.localpart == jid.localpart && again.resourcepart == jid.resourcepart)
            let ascii = jid.asciiDomain
            #expect(ascii.utf8.allSatisfy { $0 < 0x80 })
            #expect(try JID(ascii) == jid.domain)
        }
        #expect(parsed > 5_000)
    }

    @Test("any octets at all give a JID or an error")
    func anyOctets() {
        var generator = SeededGenerator(seed: 3629)
        for _ in 0..<50_000 {
            let octets = (0..<Int.random(in: 0...12, using: &generator)).map { _ in
                Bool.random(using: &generator)
                    ? UInt8.random(in: 0...255, using: &generator)
                    : [0x61, 0x2E, 0x40, 0x2F, 0xC3, 0xA9].randomElement(using: &generator) ?? 0
            }
            if let jid = try? JID(utf8: octets) {
                #expect((try? JID(jid.description)) == jid)
            }
        }
    }

    @Test(
        "octets that are not UTF-8 are the fault of the part they stand in",
        arguments: [
            ([0xFF, 0x40, 0x62], JIDError.Part.localpart), ([0x61, 0x40, 0xC3], .domainpart), ([0xC3], .domainpart),
            ([0x61, 0x40, 0x62, 0x2F, 0xED, 0xA0, 0x80], .resourcepart),
        ])
    func notUTF8(octets: [UInt8], part: JIDError.Part) {
        let error = #expect(throws: JIDError.self) { try JID(utf8: octets) }
        #expect(error?.part == part)
        #expect(error?.reason == .notUTF8)
    }

    @Test("a part that cannot fit is refused by its length, before anything in it is looked at (RFC 7622 §3.1)")
    func work() {
        let long = String(repeating: " ", count: 4 * 1_023 + 1)
        for (string, part) in [(long + "@example.org", JIDError.Part.localpart), ("a@b/\u{1}" + long, .resourcepart)] {
            let error = #expect(throws: JIDError.self) { _ = try JID(string) }
            #expect(error?.part == part && error?.reason == .tooLong)
        }
    }

    @Test("a domain that does not read back as it was written is none (RFC 7622 §3.2)")
    func unstableDomain() {
        let error = #expect(throws: JIDError.self) { _ = try JID("u@XN--BCERa") }
        #expect(error?.reason == .unstable)
    }

    @Test("JIDs sort by account, then server, then resource")
    func order() throws {
        let sorted = ["example.org", "a@b", "a@b/r", "a@b/s", "a@b.org", "a.b@b"]
        #expect(try sorted.shuffled().map { try JID($0) }.sorted().map(\.description) == sorted)
    }

    @Test("a JID is coded as a string, and decoding says what is wrong")
    func coding() throws {
        let jids = try [JID("juliet@example.org/balcony"), JID("bücher.ch")]
        let data = try JSONEncoder().encode(jids)
        #expect(try JSONDecoder().decode([JID].self, from: data) == jids)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([JID].self, from: Data(#"["a b@c"]"#.utf8)) }
    }

    private func octets(_ string: String) -> [UInt8] { Array(string.utf8) }
}
