// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore
import XMPPXML

@testable import XMPPProtocol

@Suite("Which answer belongs to which request (RFC 6120 §8.1.2.1, §8.2.3)")
struct IQTrackerTests {
    private func tracker() throws -> IQTracker {
        IQTracker(account: try JID("romeo@example.net/orchard"), maximumOpenRequests: 2)
    }

    private func answer(_ kind: IQ.Kind = .result, from: String?, id: String = "q1") throws -> IQ {
        var iq = IQ(kind, id: id)
        iq.from = try from.map { try JID($0) }
        return iq
    }

    @Test(
        "an answer counts only from the address asked",
        arguments: [
            (nil, nil, true), (nil, "romeo@example.net", true), (nil, "romeo@example.net/orchard", true),
            (nil, "example.net", true), (nil, "romeo@example.net/other", false), (nil, "mallory@evil.example", false),
            (nil, "net", false), ("juliet@example.com/balcony", "juliet@example.com/balcony", true),
            ("juliet@example.com/balcony", "juliet@example.com", false), ("juliet@example.com/balcony", nil, false),
            ("juliet@example.com/balcony", "example.net", false), ("romeo@example.net", nil, true),
            ("example.net", "example.net", true), ("example.net", nil, false),
            ("example.net", "romeo@example.net", false),
        ] as [(String?, String?, Bool)])
    func sender(to: String?, from: String?, counts: Bool) throws {
        var tracker = try tracker()
        #expect(tracker.sending(id: "q1", to: try to.map { try JID($0) }) == true)
        let match = tracker.received(try answer(from: from))
        #expect(match == (counts ? .answer(id: "q1") : .none))
        #expect(tracker.isOpen(id: "q1") == !counts)
    }

    @Test("a request is no answer, an unknown id none either, and an answer counts once")
    func kinds() throws {
        var tracker = try tracker()
        #expect(tracker.sending(id: "q1", to: nil) == true)
        #expect(tracker.received(try answer(.get, from: nil)) == .none)
        #expect(tracker.received(try answer(from: nil, id: "q2")) == .none)
        #expect(tracker.received(try answer(.error, from: nil)) == .answer(id: "q1"))
        #expect(tracker.received(try answer(from: nil)) == .none)
    }

    @Test("an id is used once at a time, and the number of open requests has a limit")
    func limits() throws {
        var tracker = try tracker()
        #expect(tracker.sending(id: "q1", to: nil) == true)
        #expect(tracker.sending(id: "q1", to: nil) == false)
        #expect(tracker.sending(id: "q2", to: nil) == true)
        #expect(tracker.sending(id: "q3", to: nil) == false)
        tracker.forget(id: "q1")
        #expect(tracker.sending(id: "q3", to: nil) == true)
        #expect(Set(tracker.streamEnded()) == ["q2", "q3"])
        #expect(tracker.openRequests.isEmpty)
    }
}
