// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore
import XMPPXML

@testable import XMPPProtocol

@Suite("Streams without a login (XEP-0077 §3.1.1)")
struct RegisteringTests {
    private static let offer =
        "<stream:features><mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><mechanism>PLAIN</mechanism>"
        + "</mechanisms><register xmlns='http://jabber.org/features/iq-register'/></stream:features>"

    private func harness(security: SecurityPolicy = .tlsRequired) throws -> MachineHarness {
        try MachineHarness(security: security) { $0.isForRegistration = true }
    }

    /// Up to where requests may be sent.
    private func registering() throws -> MachineHarness {
        var harness = try harness()
        try harness.secure()
        let actions = try harness.receive(Self.offer)
        #expect(actions.sentNames == [], "no login is begun")
        let offered = actions.compactMap { if case .emit(.registering(let features)) = $0 { features } else { nil } }
        #expect(offered.first?.offersRegistration == true && offered.count == 1)
        #expect(actions.contains(.cancel(.negotiation)), "people take their time")
        return harness
    }

    @Test("requests go out before a login, and their answers come in")
    func exchange() throws {
        var harness = try registering()
        let request = IQ(.get, id: "r1", payload: Element("query", namespace: "jabber:iq:register")).element
        #expect(harness.machine.sendUnauthenticated(request) == [.send(request)])
        for type in ["result", "error"] {
            let answer = "<iq type='\(type)' id='r1'/>"
            #expect(
                try harness.receive(answer) == [
                    .emit(.answer(try Element.parse(answer, defaultNamespace: Namespace.client)))
                ])
        }
        #expect(harness.machine.isEstablished == false && harness.machine.send(request) == [], "no session")
    }

    @Test(
        "nothing but an answer may come before a login (RFC 6120 §4.3.5)",
        arguments: [
            "<message from='a@b'><body>x</body></message>", "<presence from='a@b'/>", "<iq type='get' id='x'/>",
            "<iq type='set' id='x'><query xmlns='jabber:iq:roster'/></iq>", "<iq id='x'/>",
            "<success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>",
        ])
    func strangers(xml: String) throws {
        var harness = try registering()
        let actions = try harness.receive(xml)
        #expect(actions.compactMap(\.stanza).isEmpty)
        guard case .serverNotAuthenticated? = actions.end else {
            Issue.record("\(actions)")
            return
        }
    }

    @Test("a server that offers registration before TLS is sent the request for TLS, and left where it has none")
    func clear() throws {
        var harness = try harness()
        _ = harness.machine.transportConnected(directTLS: false, peerIsLoopback: false)
        _ = harness.header()
        let both = Self.offer.replacing(
            "</stream:features>", with: "<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/></stream:features>")
        #expect(try harness.receive(both).sentNames == ["starttls"])
        let request = IQ(.get, id: "r1").element
        #expect(harness.machine.sendUnauthenticated(request) == [], "not before TLS")
        var other = try self.harness()
        _ = other.machine.transportConnected(directTLS: false, peerIsLoopback: true)
        _ = other.header()
        guard case .tlsUnavailable? = try other.receive(Self.offer).end else {
            Issue.record("registered in the clear")
            return
        }
    }

    @Test("a certificate that has expired ends it with `reset`, and nothing is sent any more (RFC 6120 §13.7.2.3)")
    func certificateEnd() throws {
        var harness = try registering()
        let actions = harness.machine.timerFired(.certificate)
        #expect(actions.sentNames == ["error"])
        #expect(StreamError(try #require(actions.compactMap(\.sent).last)).condition == .reset)
        #expect(actions.contains(.endStream) && actions.last == .closeTransport)
        guard case .transportEnded? = actions.end else {
            Issue.record("\(actions)")
            return
        }
        #expect(harness.machine.sendUnauthenticated(IQ(.get, id: "r1").element) == [])
    }

    @Test("this side ends the stream in good order, and the server's end is told")
    func ends() throws {
        var harness = try registering()
        let actions = harness.machine.close()
        #expect(actions.contains(.endStream) && actions.contains(.schedule(.closing, after: .seconds(5))))
        #expect(harness.machine.received(.streamClosed).end == .closed)
        var other = try registering()
        #expect(other.machine.received(.streamClosed).end == .closedByServer)
        var third = try registering()
        let error = "<stream:error><not-authorized xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error>"
        #expect(try third.receive(error).end == .streamError(StreamError(.notAuthorized)))
    }
}
