// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore

@Suite struct SASLprepTests {
    @Test(
        "characters are mapped, then normalised (RFC 4013 §2.1, §2.2, §3)",
        arguments: [
            ("I\u{AD}X", "IX"), ("user", "user"), ("USER", "USER"), ("\u{AA}", "a"), ("\u{2168}", "IX"),
            ("a\u{A0}b", "a b"), ("a\u{3000}b", "a b"), ("a\u{200B}b", "a b"), ("a\u{FEFF}b", "ab"),
            ("e\u{301}", "\u{E9}"), ("\u{FB01}", "fi"), ("\u{AD}", ""), ("", ""), ("\u{1F600}", "\u{1F600}"),
            ("\u{340}", "\u{300}"),
        ])
    func mapping(text: String, expected: String) throws {
        #expect(Array(try SASLprep.prepare(text).utf8) == Array(expected.utf8))
    }

    @Test(
        "forbidden characters are refused (RFC 4013 §2.3)",
        arguments: [
            0x00, 0x07, 0x1F, 0x7F, 0x80, 0x9F, 0x6DD, 0x70F, 0x180E, 0x2028, 0x2063, 0x206A, 0xFFF9, 0x1D173, 0xE000,
            0xF8FF, 0xF0000, 0x100000, 0x10FFFD, 0xFDD0, 0xFFFE, 0x1FFFF, 0x10FFFF, 0xFFFD, 0x2FF0, 0x200E, 0x202E,
            0xE0001, 0xE007F,
        ] as [UInt32])
    func prohibited(value: UInt32) throws {
        let scalar = try #require(Unicode.Scalar(value))
        #expect(throws: SASLprepError.prohibitedCharacter) { try SASLprep.prepare("a" + String(Character(scalar))) }
    }

    @Test("right-to-left text is all of one direction and ends as it begins (RFC 3454 §6)")
    func directions() throws {
        #expect(try SASLprep.prepare("\u{627}1\u{628}") == "\u{627}1\u{628}")
        #expect(try SASLprep.prepare("\u{5D0}") == "\u{5D0}")
        for text in ["\u{627}1", "1\u{627}", "\u{627}a\u{628}", "a\u{627}"] {
            #expect(throws: SASLprepError.mixedDirections) { try SASLprep.prepare(text) }
        }
    }

    @Test("the longest expansion fits (U+FDFA becomes eighteen characters)")
    func expansion() throws {
        let text = String(repeating: "\u{FDFA}", count: 1_000)
        #expect(try SASLprep.prepare(text).unicodeScalars.count == 18_000)
    }

    @Test(
        "characters younger than Unicode 3.2 stay as they are (RFC 3454 §4, §7)",
        arguments: ["\u{1D2C}", "\u{1F130}", "\u{2C7C}e\u{1D43}", "\u{1F600}", "\u{32FF}", "\u{7CA}1"])
    func younger(text: String) throws {
        #expect(Array(try SASLprep.prepare(text).utf8) == Array(text.utf8))
        #expect(Array(try SASLprep.prepare("\u{AA}" + text + "\u{2168}").utf8) == Array(("a" + text + "IX").utf8))
    }

    @Test("no character traps, and what is prepared stays as it is")
    func idempotent() throws {
        for value in [0...0x1FFFF, 0x2F800...0x2FA1F, 0xE0000...0xE01EF, 0x10FFF0...0x10FFFF].joined() {
            guard let scalar = Unicode.Scalar(value), let once = try? SASLprep.prepare(String(Character(scalar))) else {
                continue
            }
            let twice = try? SASLprep.prepare(once)
            if twice != once { Issue.record("U+\(String(value, radix: 16))") }
        }
    }
}
