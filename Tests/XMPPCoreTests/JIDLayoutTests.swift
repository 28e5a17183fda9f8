// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPTestSupport

@testable import XMPPCore

@Suite("The short way of parsing a JID")
struct JIDLayoutTests {
    @Test("whatever the short way takes, the long way takes with the same result")
    func agrees() throws {
        var generator = SeededGenerator(seed: 7622)
        let pieces = [
            "a", "b", "z", "0", "9", "-", "--", "xn--", ".", "@", "/", " ", "A", "&", "~", "\u{7F}", "\u{0}", "_",
        ]
        var taken = 0
        for _ in 0..<100_000 {
            let string = (0..<Int.random(in: 1...9, using: &generator)).map { _ in
                pieces[Int.random(in: 0..<pieces.count, using: &generator)]
            }.joined()
            let long = try? JID(preparing: string)
            guard let layout = JID.Layout(plain: string) else { continue }
            taken += 1
            #expect(long == JID(prepared: string, layout: layout), "\(string)")
            #expect(long?.domainStart == layout.domainStart && long?.domainEnd == layout.domainEnd)
        }
        #expect(taken > 5_000)
    }

    @Test("each ASCII character in each part is judged alike on both ways", arguments: 0..<128)
    func everyCharacter(value: Int) throws {
        let scalar = String(Unicode.Scalar(UInt8(value)))
        for string in ["a\(scalar)b@c.d/r", "a@b\(scalar)c.d", "a@b/c\(scalar)d", "\(scalar)@b", "a@b/\(scalar)"] {
            if let layout = JID.Layout(plain: string) {
                #expect(try JID(preparing: string) == JID(prepared: string, layout: layout))
            }
        }
        // And the short way misses nothing that it could take: a prepared plain JID goes through it again.
        for string in ["a\(scalar)b@c.d/r", "a@b\(scalar)c.d", "a@b/c\(scalar)d"] {
            guard let jid = try? JID(preparing: string), jid.text.utf8.count == string.utf8.count else { continue }
            #expect(JID.Layout(plain: jid.text) != nil)
        }
    }

    @Test("the table of vectors gives the same on the long way", arguments: JIDVector.all)
    func vectors(vector: JIDVector) throws {
        guard let string = String(validating: vector.input, as: UTF8.self) else { return }
        #expect((try? JID(preparing: string)) == (try? JID(string)))
    }

    @Test("limits of length are the same on both ways")
    func limits() {
        for length in [62, 63, 64, 253, 254, 255, 1022, 1023, 1024] {
            let run = String(repeating: "x", count: length)
            for string in [run, "\(run)@a", "a/\(run)", "a@\(run)/b"] {
                #expect((try? JID(preparing: string)) == (try? JID(string)))
                #expect((try? JID(preparing: string)) == nil || JID.Layout(plain: string) != nil)
            }
        }
    }
}
