// SPDX-License-Identifier: Apache-2.0

import SocketIO
import Testing
import XMPPTestSupport
import XMPPTransport

@testable import XMPP

@Suite("A failure on the way to a session says where it was, and in which part of the way", .timeLimit(.minutes(3)))
struct FailurePlaceTests {
    private func failure(_ configuration: XMPPConfiguration) async throws -> XMPPError {
        let error = await #expect(throws: XMPPError.self) { try await XMPPStream(configuration).connect() }
        return try #require(error)
    }

    /// The failure of a login at a server, at the one place that the user has given.
    private func failure(
        _ options: (inout LoopbackOptions) -> Void, directTLS: Bool = false,
        _ change: (inout XMPPConfiguration) -> Void = { _ in }
    ) async throws -> (error: XMPPError, endpoint: String) {
        let server = try await verona(options)
        var configuration = try await server.configuration(for: "romeo", directTLS: directTLS)
        change(&configuration)
        let endpoint = "127.0.0.1:\(try #require(configuration.port))"
        let error = try await failure(configuration)
        await server.stop()
        return (error, endpoint)
    }

    @Test("while names are looked up there is no place yet")
    func lookup() async throws {
        let server = try await verona()
        var zone = SurveyZone()
        zone.services["_xmpp-client._tcp.example.net"] = .secure([
            SRVRecord(priority: 0, weight: 0, port: 0, target: "")
        ])
        var configuration = try await server.configuration(for: "romeo")
        (configuration.host, configuration.port, configuration.connector) = (nil, nil, zone.connector)
        configuration.asksWebForPlaces = false
        let error = try await failure(configuration)
        #expect(error.phase == .lookup && error.endpoint == nil, "\(error)")
        #expect(error.code == .serviceUnavailable)
        await server.stop()
    }

    @Test("where nothing listens, the place is named once")
    func connection() async throws {
        let (error, endpoint) = try await failure({ _ in }) { $0.port = 1 }
        #expect(error.code == .connectionFailed && error.phase == .connection && error.endpoint == endpoint)
        #expect(error.message.contains(endpoint) && !error.message.contains("(At"), "\(error)")
    }

    @Test("before the channel is secure, with STARTTLS and with direct TLS", arguments: [false, true])
    func tls(directTLS: Bool) async throws {
        let (refused, endpoint) = try await failure({ $0.certificateFlaw = .expired }, directTLS: directTLS)
        #expect(refused.code == .certificateRejected && refused.phase == .tls && refused.endpoint == endpoint)
        #expect(refused.message.hasSuffix(" (At \(endpoint), during TLS.)"), "\(refused)")
        guard !directTLS else { return }
        let (lacking, place) = try await failure({ $0.offersStartTLS = false })
        #expect(lacking.code == .tlsUnavailable && lacking.phase == .tls && lacking.message.contains("(At \(place), "))
    }

    @Test("a place that the reason names already is not named again, the part of the way is")
    func namedOnce() {
        let error = XMPPError(.connectionLost, "The connection was lost (127.0.0.1:5222, recv).")
            .placed(at: "127.0.0.1:5222", in: .authentication)
        #expect(error.message == "The connection was lost (127.0.0.1:5222, recv). (That was during the login.)")
    }

    @Test("of many places that fail each reason is told once, and five beside the first")
    func many() async throws {
        let server = try await verona()
        var configuration = try await server.configuration(for: "romeo")
        (configuration.host, configuration.port, configuration.asksWebForPlaces) = (nil, nil, false)
        configuration.connector = SurveyZone.naming(startTLS: [1, 1, 2, 3, 4, 5, 6, 7, 8, 9]).connector
        let message = try await failure(configuration).message
        #expect(message.contains("Also tried: ") && message.hasSuffix(" And 3 more."), "\(message)")
        #expect(message.ranges(of: "nothing listens there").count == 6, "\(message)")
        await server.stop()
    }

    @Test("during the login, in the clear as well", arguments: [false, true])
    func authentication(isInTheClear: Bool) async throws {
        let (error, endpoint) = try await failure {
            $0.offersStartTLS = !isInTheClear
            $0.allowsPlaintext = isInTheClear
        } _: {
            $0.password = "wrong"
            if isInTheClear { $0.securityPolicy = .plaintextOnLoopback }
        }
        #expect(error.code == .authenticationRefused && error.phase == .authentication && error.endpoint == endpoint)
        #expect(error.message.hasSuffix(" (At \(endpoint), during the login.)"), "\(error)")
    }

    @Test("at the start of the session, and once there is one the place alone is told")
    func session() async throws {
        let scripted = try ScriptedServer()
        async let played: Void = scripted.play(StreamScript(.advance(to: .bind), .await("<bind"), .close))
        let error = try await failure(scripted.configuration)
        try? await played
        let place = try #require(error.endpoint)
        #expect(error.code == .connectionLost && error.phase == .session && place.hasPrefix("127.0.0.1:"), "\(error)")
        #expect(error.message.hasSuffix(" (At \(place), at the start of the session.)"), "\(error)")
        let server = try await verona()
        let stream = XMPPStream(try await server.configuration(for: "romeo"))
        try await stream.connect()
        let endpoint = "127.0.0.1:\(server.port)"
        await server.crash()
        try await Patience.wait(for: "the stream to hear of it") { await stream.disconnection != nil }
        let lost = try #require(await stream.disconnection)
        #expect(lost.code == .connectionLost && lost.phase == nil && lost.endpoint == endpoint)
        #expect(!lost.message.contains("(At"))
        await server.stop()
    }

    @Test("of several places that fail each is named with its own reason")
    func several() async throws {
        let expired = try await verona { $0.certificateFlaw = .expired }
        let stranger = try await verona { $0.certificateFlaw = .selfSigned }
        let ports = [try #require(expired.directTLSPort), try #require(stranger.directTLSPort)]
        var configuration = try await expired.configuration(for: "romeo")
        (configuration.host, configuration.port, configuration.asksWebForPlaces) = (nil, nil, false)
        configuration.connector = SurveyZone.naming(startTLS: [], directTLS: ports).connector
        let error = try await failure(configuration)
        #expect(error.code == .certificateRejected && error.phase == .tls)
        #expect(error.endpoint == "xmpp.example.net:\(ports[0])")
        for port in ports {
            #expect(error.message.contains("(At xmpp.example.net:\(port), during TLS.)"), "\(error)")
        }
        await expired.stop()
        await stranger.stop()
    }

    @Test("a place that was overtaken is named with the part of the way that it was in")
    func overtaken() {
        let error = XMPPError(.timedOut, "a:1 was still silent when b:2 had answered.")
        let placed = error.placed(at: "a:1", in: .connection)
        #expect(placed.endpoint == "a:1" && placed.phase == .connection && placed.message == error.message)
        #expect(placed.placed(at: "c:3", in: .session) == placed, "who knows first is right")
        let called = XMPPError(.cancelled, "called off").placed(at: "a:1", in: .tls)
        #expect(called.endpoint == nil && called.phase == nil)
    }
}
