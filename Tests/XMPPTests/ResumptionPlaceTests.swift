// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPTransport

@testable import XMPP

@Suite("Where a session is asked for (XEP-0198 §5)")
struct ResumptionPlaceTests {
    @Test(
        "the place that the server prefers is read as it is written there",
        arguments: [
            ("xmpp.example.net", "xmpp.example.net", 5_222), ("xmpp.example.net:5269", "xmpp.example.net", 5_269),
            ("192.0.2.1:5222", "192.0.2.1", 5_222), ("[2001:db8::1]:9222", "2001:db8::1", 9_222),
            ("[::1]", "::1", 5_222),
        ])
    func places(text: String, host: String, port: Int) throws {
        let target = try #require(ConnectionTarget(location: text))
        #expect(target.host == host)
        #expect(Int(target.port) == port)
        #expect(target.security == .startTLS)
    }

    @Test(
        "what is no place is passed over",
        arguments: [
            "", ":5222", "host:", "host:0", "host:65536", "host:-1", "host:+1", "host:http",
            "a b", "a/b", "user@host", "[::1", "[::1]x", "[]:1",
        ])
    func junk(text: String) {
        #expect(ConnectionTarget(location: text) == nil)
    }
}

@Suite("What is handled (XEP-0198 §4)")
struct HandlingLedgerTests {
    @Test("only what lies before the first stanza that is still in somebody's hands counts")
    func order() {
        var ledger = HandlingLedger()
        let first = ledger.handOut(ArrivedStanzas(count: 1))
        let second = ledger.handOut(ArrivedStanzas(count: 2))
        let third = ledger.handOut(ArrivedStanzas(count: 3))
        #expect(ledger.finished(second).count == 0)
        #expect(ledger.finished(first).count == 3)
        #expect(ledger.finished(first).count == 0, "twice is once")
        #expect(!ledger.isEmpty)
        #expect(ledger.finished(third).count == 3)
        #expect(ledger.isEmpty)
    }

    @Test("what an earlier connection brought does not count any more")
    func forgotten() {
        var ledger = HandlingLedger()
        let old = ledger.handOut(ArrivedStanzas(count: 1))
        ledger.forget()
        let new = ledger.handOut(ArrivedStanzas(count: 1))
        #expect(ledger.finished(old).count == 0)
        #expect(ledger.finished(new).count == 1)
    }
}
