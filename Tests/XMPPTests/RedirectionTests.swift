// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPTestSupport

@testable import XMPP

@Suite("A server that sends a login on to another host (RFC 6120 §4.9.3.19)", .timeLimit(.minutes(3)))
struct RedirectionTests {
    /// The doors of a server.
    enum Door: CaseIterable {
        case startTLS
        case directTLS
        case webSocket
    }

    /// How a login ended that was sent on.
    private struct Outcome {
        var error: XMPPError?
        var connections = 0
        var endpoint: String?
    }

    /// Logs in at a server that sends streams on to itself, unless another place is named.
    private func connect(
        through door: Door = .startTLS, times: Int, to place: String? = nil,
        _ change: @Sendable (inout LoopbackOptions) -> Void = { _ in }
    ) async throws -> Outcome {
        let server = try await verona()
        let configuration =
            door == .webSocket
            ? try await server.webSocketConfiguration(for: "romeo")
            : try await server.configuration(for: "romeo", directTLS: door == .directTLS)
        let own = configuration.webSocket?.description ?? "\(server.host):\(configuration.port ?? 0)"
        await server.changeOptions { options in
            options.redirection = place ?? own
            options.redirectedStreams = times
            change(&options)
        }
        let stream = XMPPStream(configuration)
        var outcome = Outcome()
        do {
            try await stream.connect()
            try await stream.ping()
        } catch {
            outcome.error = error
        }
        outcome.endpoint = await stream.endpoint
        await stream.disconnect()
        outcome.connections = await server.acceptedConnections
        await server.stop()
        return outcome
    }

    @Test("is followed, through the door that the login came by (RFC 7395 §3.6.1)", arguments: Door.allCases)
    func followed(door: Door) async throws {
        let outcome = try await connect(through: door, times: 2)
        #expect(outcome.error == nil && outcome.connections == 3, "\(outcome)")
    }

    @Test("is followed five times, not six", arguments: [Door.startTLS, .webSocket])
    func bounded(door: Door) async throws {
        #expect(XMPPStream.maximumRedirections == 5)
        #expect(try await connect(through: door, times: 5).error == nil)
        let outcome = try await connect(through: door, times: 6)
        #expect(outcome.connections == 6 && outcome.error?.code == .streamError, "\(outcome)")
        #expect(outcome.error?.streamError?.condition == .seeOtherHost)
        #expect(outcome.error?.message.contains("without end") == true, "\(outcome)")
    }

    @Test("is not believed before TLS, where anybody could say it")
    func inTheClear() async throws {
        let outcome = try await connect(times: 1) { $0.redirectsInTheClear = true }
        #expect(outcome.connections == 1 && outcome.error?.streamError?.condition == .seeOtherHost, "\(outcome)")
        #expect(outcome.error?.message.contains("before TLS") == true, "\(outcome)")
        let end = outcome.error?.endpoint.map { "so it was not followed. (At \($0), during TLS.)" }
        #expect(outcome.error?.message.hasSuffix(try #require(end)) == true, "\(outcome)")
    }

    @Test(
        "to what is no place goes nowhere, and the error shows what it was",
        arguments: [
            "file:///etc/passwd", "", "host:0", "host:99999", "host:+5", ":5222", "a b", "[::1", "host/path",
            "user@host",
            "wss://127.0.0.1/", "h\u{202E}st",
        ])
    func junk(place: String) async throws {
        let outcome = try await connect(times: 1, to: place)
        #expect(outcome.connections == 1 && outcome.error?.streamError?.condition == .seeOtherHost, "\(outcome)")
        #expect(outcome.error?.message.contains("no place to go to") == true, "\(outcome)")
        #expect(outcome.error?.message.contains("\u{202E}") == false)
    }

    @Test(
        "goes from a WebSocket to wss alone (RFC 7395 §3.6.1)",
        arguments: ["ws://127.0.0.1/xmpp-websocket", "https://127.0.0.1/http-bind", "127.0.0.1:5222", ""])
    func lessSecure(place: String) async throws {
        let outcome = try await connect(through: .webSocket, times: 1, to: place)
        #expect(outcome.connections == 1 && outcome.error?.message.contains("no place to go to") == true, "\(outcome)")
    }

    @Test("to a host that cannot prove the account's domain ends there, with nothing said")
    func impostor() async throws {
        let server = try await verona()
        var options = LoopbackOptions()
        options.certificateNames = [.dns("localhost"), .dns("other.example.com")]
        let other = try await LoopbackServer.start(
            domain: "example.net", accounts: ["romeo": "secret"], options: options)
        await server.changeOptions { options in
            options.redirection = "localhost:\(other.port)"
            options.redirectedStreams = 1
        }
        let error = await #expect(throws: XMPPError.self) {
            try await XMPPStream(try await server.configuration(for: "romeo")).connect()
        }
        // Its authority is another one as well.
        #expect(error?.code == .certificateRejected, "\(error as Any)")
        #expect(error?.message.hasPrefix("Sent on from 127.0.0.1:\(server.port) to localhost:\(other.port). ") == true)
        let said = await other.transcript.filter { $0.direction == .fromClient }.map(\.element.localName)
        #expect(Set(said).isSubset(of: ["stream", "starttls"]), "\(said)")
        await other.stop()
        await server.stop()
    }

    @Test("to a host that is out of reach is told with the way there, and no other place is tried")
    func dead() async throws {
        let outcome = try await connect(times: 1, to: "127.0.0.1:1")
        #expect(outcome.error?.code == .connectionFailed && outcome.connections == 1, "\(outcome)")
        #expect(outcome.error?.message.contains("to 127.0.0.1:1. ") == true, "\(outcome)")
    }

    @Test("leaves everything but the host as it was, for this login alone")
    func sameStream() async throws {
        let header =
            "<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' from='example.org'"
            + " id='x' version='1.0'>"
        let error = "<stream:error><see-other-host xmlns='urn:ietf:params:xml:ns:xmpp-streams'>"
        let script = """
            #! prelude tls
            #! await <stream:stream
            #! raw \(header)\(error)other.example.com:9222</see-other-host></stream:error></stream:stream>
            #! reconnect online
            """
        let server = try ScriptedServer()
        let scene = try await Scene(script, server: server)
        #expect(scene.error == nil, "the certificate proves example.org there: \(scene.error as Any)")
        #expect(await scene.stream.endpoint == "other.example.com:9222")
        let received = await server.received
        #expect(received.count == 2)
        let headers = received.joined().filter { $0.contains("<stream:stream") }
        #expect(headers.count == 5 && headers.allSatisfy { $0.contains("to='example.org'") }, "\(headers)")
        await scene.close()
    }
}
