// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPTestSupport

@testable import XMPPCore

@Suite("PRECIS profiles (RFC 8264, RFC 8265)")
struct PRECISTests {
    @Test(
        "OpaqueString keeps case and width, maps spaces, composes (RFC 8265 §4.2)",
        arguments: [
            ("correct horse", "correct horse"), ("π\u{DF}å", "πßå"), ("Jack of ♦s", "Jack of ♦s"),
            ("a\u{1680}b", "a b"),
            ("a\u{2003}\u{A0}b", "a  b"), ("e\u{301}", "\u{E9}"), ("\u{212B}", "\u{C5}"), ("Ａ", "Ａ"), (" ", " "),
            ("ﬁ", "ﬁ"),
            ("I\u{307}", "\u{130}"), ("\u{1100}\u{1161}", "가"),
        ])
    func opaque(input: String, expected: String) throws {
        #expect(try Array(PRECIS.opaqueString(input).utf8) == Array(expected.utf8))
    }

    @Test(
        "OpaqueString refuses nothing, controls and what cannot be seen (RFC 8265 §4.2)",
        arguments: [
            ("", PRECISError.empty), ("my cat is a \u{9}by", .disallowed("\u{9}")), ("é\u{0}", .disallowed("\u{0}")),
            ("a\u{0}b", .disallowed("\u{0}")), ("\u{7F}", .disallowed("\u{7F}")), ("\u{AD}", .disallowed("\u{AD}")),
            ("\u{378}", .disallowed("\u{378}")), ("\u{E000}", .disallowed("\u{E000}")),
            ("a\u{200D}", .context("\u{200D}")),
            ("\u{1100}", .disallowed("\u{1100}")), ("\u{FFFF}", .disallowed("\u{FFFF}")),
            ("\u{640}", .disallowed("\u{640}")),
        ])
    func opaqueRefused(input: String, error: PRECISError) {
        #expect(throws: error) { try PRECIS.opaqueString(input) }
    }

    @Test(
        "UsernameCaseMapped maps case and width (RFC 8265 §3.3)",
        arguments: [
            ("JULIET", "juliet"), ("Ｊｕｌｉｅｔ", "juliet"), ("É", "é"), ("E\u{301}", "é"), ("Σ", "σ"), ("ΟΔΟΣ", "οδος"),
            ("ς", "ς"), ("\u{212A}", "k"), ("\u{9DF}", "\u{9AF}\u{9BC}"), ("\u{1100}\u{1161}", "가"),
            ("\u{130}", "i\u{307}"), ("L\u{B7}L", "l\u{B7}l"),
            ("\u{915}\u{94D}\u{200D}\u{937}", "\u{915}\u{94D}\u{200D}\u{937}"),
            ("\u{628}\u{200C}\u{628}", "\u{628}\u{200C}\u{628}"), ("\u{5D0}1", "\u{5D0}1"),
            ("\u{661}\u{627}".reversedScalars, "\u{627}\u{661}"),
        ])
    func username(input: String, expected: String) throws {
        #expect(try Array(PRECIS.usernameCaseMapped(input).utf8) == Array(expected.utf8))
    }

    @Test(
        "UsernameCaseMapped refuses spaces, symbols, look-alikes and mixed directions (RFC 8265 §3.3)",
        arguments: [
            ("", PRECISError.empty), ("a b", .disallowed(" ")), ("é b", .disallowed(" ")), ("♚", .disallowed("♚")),
            ("henryⅣ", .disallowed("Ⅳ")), ("\u{3F4}", .disallowed("\u{3F4}")), ("\u{5D0}a", .bidirectional),
            ("a\u{5D0}", .bidirectional), ("\u{661}", .bidirectional), ("\u{627}1\u{661}", .bidirectional),
            ("\u{5D0}+", .bidirectional), ("l\u{B7}", .context("\u{B7}")),
            ("\u{627}\u{200C}\u{628}", .context("\u{200C}")),
            ("\u{661}\u{6F1}", .context("\u{661}")), ("é\u{0}", .disallowed("\u{0}")),
        ])
    func usernameRefused(input: String, error: PRECISError) {
        #expect(throws: error) { try PRECIS.usernameCaseMapped(input) }
    }

    @Test("preparing what is prepared changes nothing (RFC 8264 §7)")
    func idempotent() throws {
        var generator = SeededGenerator(seed: 8265)
        var prepared = 0
        for _ in 0..<100_000 {
            let string = randomString(&generator)
            if let once = try? PRECIS.opaqueString(string) {
                prepared += 1
                #expect(try PRECIS.opaqueString(once).utf8.elementsEqual(once.utf8))
            }
            if let once = try? PRECIS.usernameCaseMapped(string) {
                prepared += 1
                #expect(try PRECIS.usernameCaseMapped(once).utf8.elementsEqual(once.utf8))
                // The language's own idea of equality and ours must not part: JIDs are compared as strings.
                #expect(once == String(decoding: Array(once.utf8), as: UTF8.self))
            }
        }
        #expect(prepared > 10_000)
    }

    @Test("every single character is taken or refused without harm, and what is taken stays as it is")
    func everyCharacter() {
        for value in UInt32(0)...0x10FFFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            if scalar.isUnassigned || scalar.isPrivateUse { continue }
            let string = String(scalar)
            guard let once = try? PRECIS.usernameCaseMapped(string) else { continue }
            if (try? PRECIS.usernameCaseMapped(once)) != once { Issue.record("U+\(String(value, radix: 16))") }
        }
    }

    /// One to six characters, mostly from the blocks where mappings, marks and directions are.
    private func randomString(_ generator: inout SeededGenerator) -> String {
        let blocks: [ClosedRange<UInt32>] = [
            0x20...0x7E, 0xC0...0x24F, 0x300...0x36F, 0x370...0x3FF, 0x400...0x4FF, 0x590...0x6FF, 0x900...0x9FF,
            0x1D00...0x1DBF, 0x1E00...0x1FFF, 0x2000...0x206F, 0x3040...0x30FF, 0xAC00...0xD7A3, 0xFF00...0xFFEF,
            0x10400...0x1044F, 0x1D400...0x1D7FF, 0x0...0x10FFFF,
        ]
        // Half of the strings stay in one block, or random text would nearly always mix directions.
        let home = blocks[Int.random(in: 0..<blocks.count, using: &generator)]
        let single = Bool.random(using: &generator)
        let scalars = (0..<Int.random(in: 1...6, using: &generator)).compactMap { _ in
            let block = single ? home : blocks[Int.random(in: 0..<blocks.count, using: &generator)]
            return Unicode.Scalar(UInt32.random(in: block, using: &generator))
        }
        return String(scalars)
    }
}

extension String {
    /// The characters in reverse, so that an editor's right-to-left display cannot mislead about their order.
    fileprivate var reversedScalars: String { String(unicodeScalars.reversed()) }
}
