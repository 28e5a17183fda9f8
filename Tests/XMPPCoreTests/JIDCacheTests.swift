// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPXML

@testable import XMPPCore

@Suite("Addresses prepared before")
struct JIDCacheTests {
    @Test("A remembered address is the one that preparing gives", arguments: [0, 1, 2, 1_024])
    func isTheSame(maximum: Int) throws {
        var cache = JIDCache(maximum: maximum)
        let texts = [
            "björn@example.net/Büro", "juliet@example.org", "BJÖRN@example.net", "ΣΣ@example.org", "öl@x.de/1",
        ]
        for text in texts + texts + texts.reversed() {
            #expect(try cache.jid(text) == JID(text))
        }
    }

    @Test("What is no address stays none, and is not remembered as one")
    func refusesAgain() {
        var cache = JIDCache()
        for _ in 0..<3 {
            #expect(throws: JIDError.self) { try cache.jid("b ö@example.net") }
        }
    }

    @Test("Texts that are only canonically equal are told apart (RFC 7622 §3.1)")
    func comparesOctets() throws {
        var cache = JIDCache()
        let composed = "bj\u{F6}rn@example.net"
        let decomposed = "bjo\u{308}rn@example.net"
        #expect(try cache.jid(composed) == JID(composed))
        #expect(try cache.jid(decomposed) == JID(decomposed))
    }

    @Test("However many addresses are in use, each is found as itself", arguments: [1, 63, 64, 65, 300, 5_000])
    func manyAddresses(count: Int) throws {
        var cache = JIDCache()
        for _ in 0..<3 {
            for number in 0..<count {
                let text = number % 9 == 0 ? "Öl\(number)@example.net/a" : "user\(number)@example.net/phone.\(number)"
                #expect(try cache.jid(text) == JID(text))
            }
        }
    }

    @Test("A changing addressee is never mistaken for the one before")
    func followsTheAddressee() throws {
        var cache = JIDCache()
        for to in ["me@example.org/a", "me@example.org/a", "me@example.org/b", "me@example.org", "me@example.org/a"] {
            let element = Element("message", namespace: Namespace.client, attributes: ["to": to, "from": "x@y.z"])
            let message = try Message(element, &cache)
            #expect(message.to?.description == to)
            #expect(message.from?.description == "x@y.z")
        }
    }
}
