// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore
import XMPPXML

@testable import XMPPProtocol

@Suite("First-level elements that were passed over")
struct PassedOverTests {
    private static func passed(_ name: String, namespace: String = Namespace.client) -> XMLStreamEvent {
        .passedOver(PassedOverElement(ElementName(name, namespace: namespace), id: "p", bytes: 2_000_000))
    }

    @Test("the limits of a session change when it is established or resumed, and only for who wants that")
    func limits() throws {
        for passesOver in [true, false] {
            var harness = try MachineHarness { $0.passesOverOversized = passesOver }
            let id = try harness.bind()
            let actions = try harness.receive(
                "<iq type='result' id='\(id)'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>"
                    + "<jid>romeo@example.net/orchard</jid></bind></iq>")
            #expect(actions.contains(.limit(XMLLimits.session.passingOver)) == passesOver)
            try harness.receive("<enabled xmlns='urn:xmpp:sm:3' resume='true' id='s'/>")
            _ = harness.machine.transportEnded("gone")
            var next = try MachineHarness(resuming: harness.machine.resumableState) {
                $0.passesOverOversized = passesOver
            }
            try next.authenticate()
            try next.receive(MachineHarness.sessionFeatures)
            let resumed = try next.receive("<resumed xmlns='urn:xmpp:sm:3' previd='s' h='0'/>")
            #expect(resumed.contains(.limit(XMLLimits.session.passingOver)) == passesOver)
        }
    }

    @Test("a stanza that was passed over counts once it is dealt with; what is no stanza does not (XEP-0198 §4)")
    func counted() throws {
        var harness = try MachineHarness()
        try harness.establish()
        let event = Self.passed("message")
        guard case .passedOver(let element) = event else { return }
        #expect(harness.machine.received(event) == [.emit(.passedOver(element))])
        let early = try harness.receive("<r xmlns='urn:xmpp:sm:3'/>")
        #expect(early.compactMap(\.sent).first?["h"] == "0")
        #expect(harness.machine.handledStanzas(1).compactMap(\.sent).first?["h"] == "1")
        _ = harness.machine.received(Self.passed("message", namespace: "urn:x"))
        _ = harness.machine.received(Self.passed("r", namespace: Namespace.streamManagement))
        // Nothing is owed for them.
        #expect(try harness.receive("<r xmlns='urn:xmpp:sm:3'/>").compactMap(\.sent).first?["h"] == "1")
        #expect(harness.machine.handledCount == 1)
    }

    @Test("before the session there is nothing that may be passed over (RFC 6120 §4.9.3.14)")
    func before() throws {
        var harness = try MachineHarness { $0.passesOverOversized = true }
        try harness.authenticate()
        let actions = harness.machine.received(Self.passed("features", namespace: Namespace.streams))
        guard case .violation(let error)? = actions.end else {
            Issue.record("\(actions)")
            return
        }
        #expect(error.condition == .policyViolation)
        #expect(harness.machine.received(Self.passed("message")).isEmpty, "the stream is over")
    }

    @Test("over WebSocket it is a message of its own, and none before <open/> (RFC 7395 §3.3)")
    func webSocket() {
        var limits = XMLLimits(maximumElements: 3)
        limits.maximumPassedOverBytes = 10_000
        let large = Array("<message xmlns='jabber:client'><a/><a/><a/><a/></message>".utf8)
        let reader = StreamReader(.messages, limits: limits)
        #expect(reader.feed(large[...], .batch).error != nil)
        let other = StreamReader(.messages, limits: limits)
        _ = other.feed(Array("<open xmlns='urn:ietf:params:xml:ns:xmpp-framing' version='1.0'/>".utf8)[...], .batch)
        let outcome = other.feed(large[...], .batch)
        #expect(
            outcome.events == [
                .passedOver(
                    PassedOverElement(ElementName("message", namespace: Namespace.client), bytes: large.count))
            ])
        #expect(outcome.error == nil)
        #expect(other.feed(Array("<message xmlns='jabber:client'/>".utf8)[...], .batch).events.count == 1)
    }
}
