// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore
import XMPPXML

@testable import XMPPProtocol

@Suite("What a stream does not do, whatever the server says")
struct StreamGateTests {
    private static let message = Element("message", namespace: Namespace.client)

    @Test("without the feature there is no binding, and no session (RFC 6120 §7.2)")
    func noBinding() throws {
        var harness = try MachineHarness()
        try harness.authenticate()
        #expect(try harness.receive("<stream:features/>").end == .bindingFailed(.noFullAddress(nil)))
    }

    @Test("no stanza of the application leaves before the session (RFC 6120 §4.3.5)")
    func noStanza() throws {
        var harness = try MachineHarness()
        #expect(harness.machine.send(Self.message).isEmpty)
        try harness.secure()
        #expect(harness.machine.send(Self.message).isEmpty)
        harness = try MachineHarness()
        try harness.authenticate()
        #expect(harness.machine.send(Self.message).isEmpty)
        harness = try MachineHarness()
        _ = try harness.bind()
        #expect(harness.machine.send(Self.message).isEmpty)
        harness = try MachineHarness()
        try harness.establish()
        #expect(!harness.machine.send(Self.message).isEmpty)
    }

    @Test("three mechanisms are tried, not a fourth (RFC 6120 §6.4.5)")
    func threeAttempts() throws {
        var harness = try MachineHarness()
        try harness.secure()
        let names = ["SCRAM-SHA-512", "SCRAM-SHA-256", "SCRAM-SHA-1", "PLAIN"]
        var actions = try harness.receive(
            "<stream:features><mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>"
                + names.map { "<mechanism>\($0)</mechanism>" }.joined() + "</mechanisms></stream:features>")
        var tried: [String] = []
        while let name = actions.compactMap(\.sent).first?["mechanism"], tried.count < 10 {
            tried.append(name)
            actions = try harness.receive(
                "<failure xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><mechanism-too-weak/></failure>")
        }
        #expect(tried == Array(names.prefix(3)))
        #expect(actions.end != nil)
    }

    @Test("a sign of life that somebody else gives in the server's place is none (RFC 6120 §8.1.2.1)")
    func foreignPong() throws {
        var harness = try MachineHarness()
        try harness.establish(managed: false)
        _ = harness.machine.timerFired(.keepalive)
        let ping = harness.machine.timerFired(.keepalive).compactMap(\.sent).first
        let id = try #require(ping?["id"])
        for from in ["mallory@evil.example", "romeo@example.net/other", "other.example.net", "@", "juliet@example.net"]
        {
            let actions = try harness.receive("<iq type='result' id='\(id)' from='\(from)'/>")
            #expect(!actions.contains(.cancel(.answer)), "\(from)")
        }
        #expect(try harness.receive("<iq type='result' id='\(id)' from='example.net'/>").contains(.cancel(.answer)))
    }

    @Test("what is not yet kept is not acknowledged, however often the server asks (XEP-0198 §4)")
    func countAfterKeeping() throws {
        var management = StreamManagement()
        _ = management.enable()
        _ = management.received(Element("enabled", namespace: Namespace.streamManagement))
        management.receivedStanza()
        management.receivedStanza()
        guard case .answer(let first) = management.received(Element("r", namespace: Namespace.streamManagement)) else {
            Issue.record("there is no answer")
            return
        }
        #expect(first["h"] == "0")
        #expect(management.handledStanzas(1) == nil, "the second is still to be kept")
        #expect(management.handledStanzas(1)?["h"] == "2")
    }

    @Test("a session that was refused is not asked for again (XEP-0198 §5)")
    func refusedOnce() throws {
        var harness = try MachineHarness()
        try harness.establish(enabled: "<enabled xmlns='urn:xmpp:sm:3' resume='true' id='sm1'/>")
        _ = harness.machine.wrote(Self.message)
        _ = harness.machine.transportEnded("gone")
        var second = try MachineHarness(resuming: harness.machine.resumableState)
        try second.authenticate()
        let request = try second.receive(MachineHarness.sessionFeatures).compactMap(\.sent).first
        #expect(request?.localName == "resume")
        try second.receive("<failed xmlns='urn:xmpp:sm:3'/>")
        _ = second.machine.transportEnded("gone again")
        let rest = try #require(second.machine.resumableState)
        #expect(rest.id == nil && rest.unacknowledged.count == 1)
    }
}
