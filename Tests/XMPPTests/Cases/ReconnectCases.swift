// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPP
import XMPPCore
import XMPPTestSupport
import XMPPXML

@Suite("Clients that came back when they should not, or did not when they should")
struct ReconnectCases {
    private static func stepsOfTime() -> ReconnectPolicy {
        ReconnectPolicy(firstDelay: .milliseconds(2), baseDelay: .milliseconds(2), minimumDelay: .milliseconds(1))
    }

    @Test("two clients with one resource do not throw each other out for ever (RFC 6120 §4.9.3.3)")
    func conflict() async throws {
        let server = try ScriptedServer(usesTLS: false)
        let client = XMPPClient(server.configuration, reconnect: Self.stepsOfTime())
        let events = client.events
        let played = Task {
            try await server.play(
                StreamScript(
                    text: """
                        #! prelude online
                        #! raw <stream:error><conflict xmlns='urn:ietf:params:xml:ns:xmpp-streams'/><text xmlns='urn:ietf:params:xml:ns:xmpp-streams'>Replaced by new connection</text></stream:error></stream:stream>
                        #! fin
                        """))
        }
        try await client.start()
        // The sequence ends when the client has stopped.
        for try await _ in events {}
        guard case .failed(let error) = await client.state else {
            Issue.record("\(await client.state)")
            return
        }
        #expect(error.streamError?.condition == .conflict && error.message.contains("Replaced"))
        try await played.value
        #expect(await server.received.count == 1)
    }

    @Test(
        "a client comes back after every kind of end that may pass",
        arguments: [
            "#! fin", "#! rst", "#! raw </stream:stream>\n#! fin",
            "#! raw <stream:error><system-shutdown xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error>\n#! fin",
            "#! raw <stream:error><reset xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error></stream:stream>\n#! fin",
            "#! raw <message><body>half\n#! fin", "#! raw <not-xml\n#! raw <<<",
        ])
    func comesBack(end: String) async throws {
        let server = try ScriptedServer(usesTLS: false)
        let client = XMPPClient(server.configuration, reconnect: Self.stepsOfTime())
        let played = Task {
            try await server.play(
                StreamScript(
                    text: """
                        #! prelude online
                        \(end)
                        #! reconnect tcp
                        #! await <stream:stream
                        #! fin
                        #! reconnect sasl
                        #! await <auth
                        #! rst
                        #! reconnect online
                        <message from='romeo@example.net'><body>welcome back</body></message>
                        """))
        }
        let messages = client.messages
        try await client.start()
        for try await message in messages {
            #expect(message.body == "welcome back")
            break
        }
        try await played.value
        #expect(await server.received.count == 4)
        _ = try? await server.play(StreamScript(.close))
        await client.stop()
    }

    @Test("a wrong password is not tried again by itself (RFC 6120 §6.4.5)")
    func wrongPassword() async throws {
        let server = try ScriptedServer(usesTLS: false)
        let client = XMPPClient(server.configuration, reconnect: Self.stepsOfTime())
        let played = Task {
            try await server.play(
                StreamScript(
                    text: """
                        #! prelude sasl
                        #! await <auth
                        <failure xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><not-authorized/></failure>
                        """))
        }
        let error = await #expect(throws: XMPPError.self) { try await client.start() }
        #expect(error?.code == .authenticationRefused)
        try await played.value
        guard case .failed = await client.state else {
            Issue.record("\(await client.state)")
            return
        }
        #expect(await server.received.count == 1)
    }

    @Test("a connection that went dead without a word is noticed, and what was sent is known to be unsure")
    func deadConnection() async throws {
        let clock = TestClock()
        let server = try ScriptedServer(usesTLS: false)
        var configuration = server.configuration
        configuration.use(clock)
        configuration.keepalive = .ping(after: .seconds(60))
        let played = Task { try await server.play(StreamScript(.advance(to: .online))) }
        let stream = XMPPStream(configuration)
        let events = stream.events
        try await stream.connect()
        try await stream.goOnline()
        try await played.value
        try await stream.send(Message(to: JID("romeo@example.net"), body: "into the void"))
        let handled = Task { try await stream.waitUntilHandled() }
        _ = try await server.next(containing: "urn:xmpp:ping")
        // The question for a sign of life is due after a quiet minute, its answer 30 seconds later.
        await clock.advance(by: .seconds(150))
        var end: XMPPError?
        for try await event in events {
            if case .disconnected(let error) = event { end = error }
        }
        #expect(end?.code == .timedOut && end?.isPermanent == false)
        await #expect(throws: XMPPError.self) { try await handled.value }
        await #expect(throws: XMPPError.self) { try await stream.send(Presence()) }
    }

    @Test("a connection that the server closes is over at once, even while nothing is sent")
    func closedByServer() async throws {
        let scene = try await Scene("#! prelude online\n#! fin")
        #expect(scene.end?.code == .connectionLost && scene.end?.isPermanent == false)
        #expect(await scene.stream.isEstablished == false)
    }
}
