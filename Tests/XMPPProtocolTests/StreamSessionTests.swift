// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore
import XMPPXML

@testable import XMPPProtocol

@Suite("Authenticating, binding and talking")
struct StreamSessionTests {
    @Test("success leads to a new stream with the limits of a session (RFC 6120 §6.4.6)")
    func success() throws {
        var harness = try MachineHarness()
        try harness.secure()
        let auth = try harness.receive(MachineHarness.plainFeatures).compactMap(\.sent).first
        #expect(auth?["mechanism"] == "PLAIN")
        #expect(
            try harness.receive("<success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>") == [
                .emit(.authenticated(mechanism: "PLAIN")), .restartParser(.session),
                .openStream(StreamHeader(to: "example.net", from: "romeo@example.net")),
            ])
    }

    @Test("a wrong password is tried once, and the mechanism is named (RFC 6120 §6.4.5)")
    func wrongPassword() throws {
        var harness = try MachineHarness()
        try harness.secure()
        try harness.receive(MachineHarness.plainFeatures)
        let actions = try harness.receive(
            "<failure xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><not-authorized/></failure>")
        #expect(actions.end == .authenticationRefused(SASLFailure(.notAuthorized), mechanism: "PLAIN"))
        #expect(!actions.sendsCredentials)
    }

    @Test("nor is it tried again with another mechanism (RFC 6120 §6.4.5)")
    func wrongPasswordTwice() throws {
        var harness = try MachineHarness()
        try harness.secure()
        try harness.receive(
            "<stream:features><mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>"
                + "<mechanism>SCRAM-SHA-1</mechanism><mechanism>PLAIN</mechanism></mechanisms></stream:features>")
        let actions = try harness.receive(
            "<failure xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><not-authorized/></failure>")
        #expect(actions.end == .authenticationRefused(SASLFailure(.notAuthorized), mechanism: "SCRAM-SHA-1"))
        #expect(!actions.sendsCredentials)
    }

    @Test("a refused mechanism leads to the next of ours (RFC 6120 §6.5.7)")
    func nextMechanism() throws {
        var harness = try MachineHarness()
        try harness.secure()
        func features(_ names: String...) -> String {
            "<stream:features><mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>"
                + names.map { "<mechanism>\($0)</mechanism>" }.joined() + "</mechanisms></stream:features>"
        }
        let first = try harness.receive(features("SCRAM-SHA-1", "SCRAM-SHA-512", "X-OTHER"))
        #expect(first.compactMap(\.sent).first?["mechanism"] == "SCRAM-SHA-512")
        let second = try harness.receive(
            "<failure xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><invalid-mechanism/></failure>")
        #expect(second.compactMap(\.sent).first?["mechanism"] == "SCRAM-SHA-1")
        let third = try harness.receive(
            "<failure xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><invalid-mechanism/></failure>")
        #expect(third.end != nil)
    }

    @Test(
        "whatever breaks the rules of SASL aborts, and no stanza is taken in between (RFC 6120 §6.3.5)",
        arguments: [
            "<success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>",
            "<challenge xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>",
            "<challenge xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>cj0 =</challenge>",
            "<challenge xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><x/></challenge>",
            "<challenge xmlns='urn:xmpp:sasl:2'>cj1h</challenge>", "<message><body>early</body></message>",
        ])
    func brokenSASL(xml: String) throws {
        var harness = try MachineHarness()
        try harness.secure()
        try harness.receive(
            "<stream:features><mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>"
                + "<mechanism>SCRAM-SHA-1</mechanism></mechanisms></stream:features>")
        let actions = try harness.receive(xml)
        guard case .serverNotAuthenticated(_, "SCRAM-SHA-1")? = actions.end else {
            Issue.record("the stream did not end: \(actions)")
            return
        }
        #expect(actions.compactMap(\.stanza).isEmpty)
    }

    @Test(
        "the bound address must be a full one of our domain (RFC 6120 §7.6)",
        arguments: [
            ("romeo@example.net/other", true), (" romeo@example.net/orchard\n", true), ("romeo@example.net", false),
            ("romeo@evil.example/orchard", false), ("not a jid@/", false), ("", false),
        ])
    func boundAddress(text: String, isTaken: Bool) throws {
        var harness = try MachineHarness()
        let id = try harness.bind("<stream:features><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></stream:features>")
        let actions = try harness.receive(
            "<iq type='result' id='\(id)'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'><jid>\(text)</jid></bind></iq>"
        )
        #expect(harness.machine.isEstablished == isTaken)
        #expect((actions.end == nil) == isTaken)
    }

    @Test("an answer to the binding from somebody else is none (RFC 6120 §8.1.2.1)")
    func spoofedBinding() throws {
        var harness = try MachineHarness()
        let id = try harness.bind()
        let actions = try harness.receive(
            "<iq type='result' id='\(id)' from='mallory@evil.example/x'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>"
                + "<jid>romeo@example.net/orchard</jid></bind></iq>")
        #expect(actions == [])
        #expect(harness.machine.isNegotiating)
    }

    @Test("a taken resource is given up once for one that the server makes (RFC 6120 §7.7.2.2)")
    func resourceConflict() throws {
        var harness = try MachineHarness()
        let id = try harness.bind()
        let conflict = "<error type='modify'><conflict xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error>"
        let retry = try harness.receive("<iq type='error' id='\(id)'>\(conflict)</iq>").compactMap(\.sent).first
        let bind = try #require(retry?.firstChild("bind", namespace: Namespace.bind))
        #expect(bind.children.isEmpty, "no resource is asked for")
        let second = try #require(retry?["id"])
        let end = try harness.receive("<iq type='error' id='\(second)'>\(conflict)</iq>").end
        guard case .bindingFailed(.refused(let error))? = end else {
            Issue.record("the stream did not end: \(String(describing: end))")
            return
        }
        #expect(error.condition == .conflict)
    }

    @Test("the session request of RFC 3921 is sent only where it is not optional", arguments: [true, false])
    func legacySession(isOptional: Bool) throws {
        var harness = try MachineHarness()
        let id = try harness.bind(
            "<stream:features><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/>"
                + "<session xmlns='urn:ietf:params:xml:ns:xmpp-session'>\(isOptional ? "<optional/>" : "")</session>"
                + "</stream:features>")
        let actions = try harness.receive(
            "<iq type='result' id='\(id)'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>"
                + "<jid>romeo@example.net/orchard</jid></bind></iq>")
        #expect(harness.machine.isEstablished == isOptional)
        guard !isOptional else { return }
        let session = try #require(actions.compactMap(\.sent).first)
        try harness.receive("<iq type='result' id='\(try #require(session["id"]))'/>")
        #expect(harness.machine.isEstablished)
    }

    @Test("a feature that is required and unknown ends the stream (RFC 6120 §4.3.2)")
    func unknownRequired() throws {
        var harness = try MachineHarness()
        try harness.authenticate()
        let actions = try harness.receive(
            "<stream:features><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/>"
                + "<x xmlns='urn:example:new'><required/></x></stream:features>")
        guard case .violation(let error)? = actions.end else {
            Issue.record("the stream did not end: \(actions)")
            return
        }
        #expect(error.condition == .unsupportedFeature)
    }

    @Test("stanzas are delivered, other elements are passed over, nested errors are content (RFC 6120 §4.9)")
    func delivery() throws {
        var harness = try MachineHarness()
        try harness.establish()
        let message = try harness.receive("<message><body>1</body><stream:error/></message>")
        #expect(message.compactMap(\.stanza).count == 1)
        #expect(try harness.receive("<other xmlns='urn:example'/>") == [])
        #expect(try harness.receive("<message xmlns='jabber:server'/>") == [])
        #expect(harness.machine.isEstablished)
    }

    @Test("a stream error ends the stream, whatever it says (RFC 6120 §4.9.1.1)")
    func streamError() throws {
        var harness = try MachineHarness()
        try harness.establish()
        let actions = try harness.receive(
            "<stream:error><conflict xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error>")
        #expect(actions.end == .streamError(StreamError(.conflict)))
        #expect(try harness.receive("<message><body>late</body></message>") == [])
    }

    @Test("closing says what was handled, ends the stream and waits for the server's end (RFC 6120 §4.4, XEP-0198 §4)")
    func closing() throws {
        var harness = try MachineHarness()
        try harness.establish()
        try harness.receive("<message><body>1</body></message>")
        harness.machine.handledStanza()
        let actions = harness.machine.close()
        #expect(actions.compactMap(\.sent).first?["h"] == "1")
        #expect(actions.contains(.endStream))
        #expect(actions.end == nil)
        #expect(try harness.receive("<message><body>2</body></message>").compactMap(\.stanza).count == 1)
        let end = harness.machine.received(.streamClosed)
        #expect(end.end == .closed)
        #expect(end.last == .closeTransport)
    }

    @Test("a server that does not end its side is left after the deadline")
    func closingTimeout() throws {
        var harness = try MachineHarness()
        try harness.establish()
        #expect(harness.machine.close().contains(.schedule(.closing, after: .seconds(5))))
        #expect(harness.machine.timerFired(.closing).end == .closed)
    }

    @Test("a stream that may be dead is asked for a sign of life at once, but only in a session")
    func probe() throws {
        var harness = try MachineHarness()
        #expect(harness.machine.probe() == [])
        try harness.establish(managed: true)
        #expect(harness.machine.probe().contains(.schedule(.answer, after: .seconds(30))))
    }

    @Test("an idle stream asks for a sign of life and ends without one (RFC 6120 §4.6.4)", arguments: [true, false])
    func keepalive(isManaged: Bool) throws {
        var harness = try MachineHarness()
        try harness.establish(managed: isManaged)
        #expect(harness.machine.timerFired(.keepalive) == [.schedule(.keepalive, after: .seconds(300))], "just alive")
        let actions = harness.machine.timerFired(.keepalive)
        #expect(actions.sentNames == [isManaged ? "r" : "iq"])
        #expect(actions.contains(.schedule(.answer, after: .seconds(30))))
        var answered = harness
        let answer =
            isManaged
            ? "<a xmlns='urn:xmpp:sm:3' h='0'/>"
            : "<iq type='result' from='example.net' id='\(try #require(actions.compactMap(\.sent).first?["id"]))'/>"
        #expect(try answered.receive(answer).contains(.cancel(.answer)))
        #expect(harness.machine.timerFired(.answer).end == .timedOut(.answer))
    }

    @Test(
        "a certificate that has expired ends the stream with `reset`, after the last acknowledgement (RFC 6120 §13.7.2.3)"
    )
    func certificateEnd() throws {
        var harness = try MachineHarness()
        #expect(harness.machine.timerFired(.certificate) == [])
        try harness.establish(managed: true)
        let actions = harness.machine.timerFired(.certificate)
        #expect(actions.sentNames == ["a", "error"])
        let error = try #require(actions.compactMap(\.sent).last)
        #expect(StreamError(error).condition == .reset)
        #expect(actions.contains(.endStream) && actions.last == .closeTransport)
        guard case .transportEnded? = actions.end else {
            Issue.record("\(actions)")
            return
        }
    }

    @Test("white space is sent where that is asked for, and nothing where nothing is (RFC 6120 §4.6.1)")
    func whitespace() throws {
        var harness = try MachineHarness(keepalive: .whitespace(every: .seconds(60)))
        try harness.establish()
        #expect(
            harness.machine.timerFired(.keepalive) == [.sendWhitespace, .schedule(.keepalive, after: .seconds(60))])
        var silent = try MachineHarness(keepalive: .off)
        try silent.establish()
        #expect(silent.machine.timerFired(.keepalive) == [])
    }

    @Test("the end of the bytes without the end of the stream is a lost connection")
    func truncated() throws {
        var harness = try MachineHarness()
        try harness.establish()
        guard case .transportEnded? = harness.machine.inputEnded().end else {
            Issue.record("the stream did not end")
            return
        }
    }
}
