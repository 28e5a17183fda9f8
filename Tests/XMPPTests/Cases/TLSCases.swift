// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPP
import XMPPCore
import XMPPTestSupport
import XMPPXML

@Suite("Channels that were less secure than they looked, or more patient than anybody")
struct TLSCases {
    @Test("what is said in the clear behind <proceed/> is never heard (RFC 6120 §5.4.3.3)", arguments: [true, false])
    func injected(inOneRead: Bool) async throws {
        let server = try ScriptedServer()
        let injected =
            "<message from='example.org' type='headline'><body>injected</body></message><stream:features>"
            + "<mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><mechanism>PLAIN</mechanism></mechanisms>"
            + "</stream:features>"
        let scene = try await Scene(
            """
            #! prelude tcp
            #! await <stream:stream
            #! raw <stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' from='example.org' id='s' version='1.0'><stream:features><starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/></stream:features>
            #! await <starttls
            #! raw <proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>\(inOneRead ? injected : "\n" + injected)
            """, server: server)
        #expect(scene.error?.code == .tlsFailed, "\(scene.error as Any)")
        #expect(scene.messages.isEmpty)
        #expect(await server.received.joined().allSatisfy { !$0.contains("<auth") })
    }

    @Test("a refusal of TLS is no permission to go without (RFC 6120 §5.4.2.2)")
    func refused() async throws {
        let server = try ScriptedServer()
        let scene = try await Scene(
            """
            #! prelude tcp
            #! await <stream:stream
            #! raw <stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' from='example.org' id='s' version='1.0'><stream:features><starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/></stream:features>
            #! await <starttls
            #! raw <failure xmlns='urn:ietf:params:xml:ns:xmpp-tls'/></stream:stream>
            """, server: server)
        #expect(scene.error?.code == .tlsUnavailable)
        #expect(await server.received.joined().allSatisfy { !$0.contains("<auth") })
    }

    @Test("a handshake that nobody answers ends in time, and nothing goes out in the clear")
    func silentHandshake() async throws {
        let clock = TestClock()
        let server = try ScriptedServer()
        var configuration = server.configuration
        configuration.use(clock)
        let played = Task {
            try await server.play(
                StreamScript(
                    text: """
                        #! prelude tcp
                        #! await <stream:stream
                        #! raw <stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' from='example.org' id='s' version='1.0'><stream:features><starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/></stream:features>
                        #! await <starttls
                        #! raw <proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>
                        """))
        }
        let stream = XMPPStream(configuration)
        let connected = Task { try await stream.connect() }
        try await played.value
        await clock.waitForTimers(2)
        await clock.advance(by: .seconds(15))
        guard case .failure(let error as XMPPError) = await connected.result else {
            Issue.record("it came online")
            return
        }
        #expect(error.code == .timedOut && error.message.contains("TLS"), "\(error)")
        #expect(await server.received.joined().allSatisfy { !$0.contains("<auth") })
    }

    @Test(
        "every flaw of a certificate is refused with a reason of its own, before anything secret (RFC 6120 §13.7)",
        arguments: TestCertificate.Flaw.allCases)
    func flaws(flaw: TestCertificate.Flaw) async throws {
        let server = try ScriptedServer(flaw: flaw)
        let scene = try await Scene("#! prelude tls", server: server)
        #expect(scene.error?.code == .certificateRejected && scene.error?.isPermanent == true)
        #expect(await server.received.joined().allSatisfy { !$0.contains("<auth") })
    }

    @Test("the reasons for refusing a certificate can be told apart")
    func reasons() async throws {
        var messages: Set<String> = []
        for flaw in TestCertificate.Flaw.allCases {
            messages.insert(try await Scene("#! prelude tls", server: ScriptedServer(flaw: flaw)).error?.message ?? "")
        }
        #expect(messages.count == TestCertificate.Flaw.allCases.count)
    }

    @Test("a message as long as a TLS record is delivered without waiting for more")
    func longRecord() async throws {
        let scene = try await Scene(
            """
            #! prelude online
            <message from='romeo@example.net/o' type='chat'><body>\(String(repeating: "x", count: 30_000))END</body></message>
            """, server: try ScriptedServer())
        #expect(scene.bodies.first?.utf8.count == 30_003 && scene.bodies.first?.hasSuffix("END") == true)
        await scene.close()
    }

    @Test("sends into a connection that was reset fail, and the end is told once", .timeLimit(.minutes(5)))
    func reset() async throws {
        let scene = try await Scene("#! prelude online\n#! rst", server: try ScriptedServer())
        #expect(scene.end?.code == .connectionLost)
        for _ in 0..<3 {
            await #expect(throws: XMPPError.self) {
                try await scene.stream.send(Message(to: JID("romeo@example.net"), body: "a"))
            }
        }
        await scene.stream.disconnect()
        #expect(scene.tape.events.count { if case .disconnected = $0 { true } else { false } } == 1)
    }
}
