// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPP
import XMPPCore
import XMPPTestSupport
import XMPPXML

@Suite("Logins that failed in odd ways, or did not end")
struct StreamCases {
    private static let header =
        "<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' from='example.org'"
        + " id='s1' version='1.0'>"
    private static let mechanisms =
        "<mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><mechanism>SCRAM-SHA-256</mechanism>"
        + "<mechanism>PLAIN</mechanism></mechanisms>"

    @Test("TLS comes first, wherever it stands in the list and however optional it is called (RFC 7590 §3.1)")
    func startTLSFirst() async throws {
        let server = try ScriptedServer()
        let scene = try await Scene(
            """
            #! prelude tcp
            #! await <stream:stream
            #! raw \(Self.header)<stream:features>\(Self.mechanisms)<ver xmlns='urn:xmpp:features:rosterver'/><starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/></stream:features>
            #! await <starttls
            #! fin
            """, server: server)
        #expect(scene.error != nil)
        let sent = await server.received.joined()
        #expect(sent.count { $0.contains("<starttls") } == 1 && sent.allSatisfy { !$0.contains("<auth") })
        #expect(sent.allSatisfy { !$0.contains("from=") && !$0.contains("juliet") }, "nor is the user named before TLS")
    }

    @Test("a server without TLS is told apart, and gets no password (RFC 6120 §13.8.3)")
    func noTLS() async throws {
        let server = try ScriptedServer()
        let scene = try await Scene(
            """
            #! prelude tcp
            #! await <stream:stream
            #! raw \(Self.header)<stream:features>\(Self.mechanisms)</stream:features>
            #! await </stream:stream
            #! fin
            """, server: server)
        #expect(scene.error?.code == .tlsUnavailable && scene.error?.isPermanent == true)
        #expect(await server.received.joined().allSatisfy { !$0.contains("<auth") })
    }

    @Test("the user is named to the server behind TLS only (RFC 6120 §4.7.1)")
    func headers() async throws {
        let scene = try await Scene("#! prelude online", server: try ScriptedServer())
        let headers = try await scene.sent().filter { $0.contains("<stream:stream") }
        try #require(headers.count == 3)
        #expect(!headers[0].contains("juliet") && headers[0].contains("to='example.org'"))
        #expect(headers[1].contains("from='juliet@example.org'"))
        await scene.close()
    }

    @Test("the stream is for the account's domain, whatever host is connected to (RFC 6120 §4.7.2)")
    func otherHost() async throws {
        let scene = try await Scene(
            "#! prelude online", server: try ScriptedServer(),
            configure: { configuration in
                configuration.host = "xmpp.example.com"
                configuration.port = 5_222
            })
        #expect(scene.error == nil, "and the certificate is checked for example.org")
        #expect(await scene.stream.endpoint == "xmpp.example.com:5222")
        #expect(
            try await scene.sent().filter { $0.contains("<stream:stream") }
                .allSatisfy { $0.contains("to='example.org'") })
        await scene.close()
    }

    @Test(
        "a session request is sent where it is asked for, and not where it is optional (RFC 3921 §3)",
        arguments: [
            ("", false), ("<session xmlns='urn:ietf:params:xml:ns:xmpp-session'><optional/></session>", false),
            ("<session xmlns='urn:ietf:params:xml:ns:xmpp-session'/>", true),
        ])
    func legacySession(feature: String, isSent: Bool) async throws {
        let session = "#! await xmpp-session\n<iq type='result' id='{id}'/>\n"
        let scene = try await Scene(
            """
            #! prelude authed
            #! await <stream:stream
            #! raw \(Self.header)<stream:features><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/>\(feature)</stream:features>
            #! await urn:ietf:params:xml:ns:xmpp-bind
            <iq type='result' id='{id}'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'><jid>juliet@example.org/balcony</jid></bind></iq>
            \(isSent ? session : "")#! await jabber:iq:roster
            <iq type='result' id='{id}'><query xmlns='jabber:iq:roster'/></iq>
            """)
        #expect(scene.error == nil)
        #expect(try await scene.sent().contains { $0.contains("xmpp-session") } == isSent)
        await scene.close()
    }

    @Test(
        "a server that falls silent is given up in time, in every phase",
        arguments: [
            ("#! prelude tcp", "the stream negotiation"), ("#! prelude tls", "the stream negotiation"),
            ("#! prelude sasl\n#! await <auth", "the stream negotiation"),
            ("#! prelude authed", "the stream negotiation"),
            ("#! prelude bind\n#! await xmpp-bind", "the stream negotiation"),
        ])
    func silence(script: String, phase: String) async throws {
        let clock = TestClock()
        let server = try ScriptedServer(usesTLS: false)
        var configuration = server.configuration
        configuration.use(clock)
        let play = try StreamScript(text: script)
        let played = Task { try await server.play(play) }
        let stream = XMPPStream(configuration)
        let connected = Task { try await stream.connect() }
        try await played.value
        await clock.waitForTimers()
        await clock.advance(by: .seconds(30))
        let result = await connected.result
        #expect(throws: XMPPError.self) { try result.get() }
        guard case .failure(let error as XMPPError) = result else { return }
        #expect(error.code == .timedOut && error.message.contains(phase), "\(error)")
        try await server.waitForEnd()
    }

    @Test(
        "features that are nonsense end the login with a reason (RFC 6120 §6.3.3)",
        arguments: [
            "<mechanisms></mechanisms><mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><mechanism></mechanism><mechanism/></mechanisms><bind/>",
            "<mechanisms></mechanisms><bind/>", "<mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>", "",
            "<mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><x xmlns='a:b'/><mechanism><y xmlns='a:b'/></mechanism></mechanisms>",
        ],
        [
            "xmlns='jabber:client' from='example.org' id='s' version='1.0'", "xmlns='jabber:client' version='1.0'",
            "xmlns='jabber:client' from='example.org' id='s'", "version='1.0'", "xmlns='jabber:client'",
        ])
    func oddFeatures(features: String, attributes: String) async throws {
        let scene = try await Scene(
            """
            #! prelude tls
            #! await <stream:stream
            #! raw <stream:stream xmlns:stream='http://etherx.jabber.org/streams' \(attributes)><stream:features>\(features)</stream:features>
            """)
        let isHeaderUsable = attributes.contains("version") && attributes.contains("xmlns")
        #expect(scene.error?.code == (isHeaderUsable ? .noMechanism : .protocolViolation), "\(scene.error as Any)")
        #expect(await scene.server.received.joined().allSatisfy { !$0.contains("<auth") })
    }

    @Test("a new stream follows at once on success, and its features are understood byte by byte (RFC 6120 §6.4.6)")
    func restart() async throws {
        let scene = try await Scene(
            """
            #! prelude authed
            #! await <stream:stream
            #! split 1
            <?xml version='1.0'?>\(Self.header)<stream:features><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></stream:features>
            #! await urn:ietf:params:xml:ns:xmpp-bind
            <iq type='result' id='{id}'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'><jid>juliet@example.org/balcony</jid></bind></iq>
            #! await jabber:iq:roster
            <iq type='result' id='{id}'><query xmlns='jabber:iq:roster'/></iq>
            """)
        #expect(scene.error == nil)
        #expect(
            try await scene.sent().allSatisfy { !$0.contains("</stream:stream") }, "no end before the new beginning")
        await scene.close()
    }

    @Test("a port that speaks TLS at once is recognised as one")
    func directTLSPort() async throws {
        let scene = try await Scene(
            """
            #! prelude tcp
            #! await <stream:stream
            #! raw \\x15\\x03\\x01\\x00\\x02\\x02\\x0A
            #! fin
            """, server: try ScriptedServer())
        #expect(scene.error?.code == .tlsFailed, "\(scene.error as Any)")
        #expect(scene.error?.message.contains("direct TLS") == true)
    }
}
