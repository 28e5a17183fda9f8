// SPDX-License-Identifier: Apache-2.0

import Dispatch
import SocketIO
import Testing
import XMPPTestSupport
import XMPPTransport

@testable import XMPP

@Suite("The race of one host's addresses (XEP-0495 §4, RFC 8305)", .timeLimit(.minutes(5)))
struct AddressRacingTests {
    /// A stream to a domain with one place, whose host has these addresses.
    private func stream(
        _ server: LoopbackServer, at addresses: [SocketAddress], _ clock: TestClock,
        _ security: ConnectionTarget.Security = .startTLS
    ) async throws -> XMPPStream {
        var configuration = try await racing(server, [], clock)
        configuration.connector = FixedPlaces(
            [ConnectionTarget(host: "xmpp.example.org", security: security)],
            network: NetworkConnector(addresses: FixedAddresses(addresses: addresses)))
        return XMPPStream(configuration)
    }

    @Test("an address that takes the connection and is silent is overtaken by the host's next one", arguments: [1, 2])
    func silentAddress(count: Int) async throws {
        let server = try await verona()
        var listeners: [ListeningSocket] = []
        for _ in 0..<count { listeners.append(try ListeningSocket(.loopback(port: 0), on: StreamExecutor())) }
        let clock = TestClock()
        let addresses = listeners.map(\.address) + [SocketAddress.loopback(port: server.port)]
        let stream = try await stream(server, at: addresses, clock)
        let connected = Task { _ = try await stream.connect() }
        for number in 1...count {
            // The race's, and the negotiation's of each that is connected.
            await clock.waitForTimers(1 + number)
            await clock.advance(by: XMPPStream.raceDelay)
        }
        try await connected.value
        #expect(clock.now == XMPPStream.raceDelay * count)
        #expect(await server.acceptedConnections == 1, "what was found is what is used")
        try await stream.goOnline()
        await stream.disconnect()
        await server.stop()
        withExtendedLifetime(listeners) {}
    }

    @Test("an address that ends the connection before it has said anything is followed by the host's next one")
    func closedAddress() async throws {
        let server = try await verona()
        let executor = StreamExecutor()
        let listener = try ListeningSocket(.loopback(port: 0), on: executor)
        executor.queue.sync { listener.start { $0.close() } }
        let addresses = [listener.address, SocketAddress.loopback(port: server.port)]
        let stream = try await stream(server, at: addresses, TestClock())
        try await stream.connect()
        #expect(await server.acceptedConnections == 1)
        await stream.disconnect()
        await server.stop()
        executor.queue.sync { listener.close() }
    }

    /// What a host answers before it has said what it offers.
    enum Answer: CaseIterable {
        /// With a certificate that is refused.
        case refusedCertificate
        /// Without TLS, where it comes first.
        case noTLS
        /// With a stream error.
        case streamError

        var security: ConnectionTarget.Security {
            switch self {
            case .refusedCertificate, .noTLS: .directTLS
            case .streamError: .startTLS
            }
        }

        var code: XMPPError.Code {
            switch self {
            case .refusedCertificate: .certificateRejected
            case .noTLS: .tlsFailed
            case .streamError: .streamError
            }
        }

        func change(_ options: inout LoopbackOptions) {
            switch self {
            case .refusedCertificate: options.certificateFlaw = .expired
            case .noTLS: break
            case .streamError:
                (options.redirection, options.redirectedStreams) = ("localhost", 9)
                options.redirectsInTheClear = true
            }
        }

        func port(of server: LoopbackServer) throws -> UInt16 {
            switch self {
            case .refusedCertificate: try #require(server.directTLSPort)
            case .noTLS, .streamError: server.port
            }
        }
    }

    @Test(
        "a host that has answered is not asked at its other addresses: what is wrong with it is told at once",
        arguments: Answer.allCases)
    func answered(answer: Answer) async throws {
        let (first, second) = (try await verona { answer.change(&$0) }, try await verona())
        let clock = TestClock()
        let addresses = [try answer.port(of: first), try answer.port(of: second)].map {
            SocketAddress.loopback(port: $0)
        }
        let stream = try await stream(first, at: addresses, clock, answer.security)
        let error = await #expect(throws: XMPPError.self) { try await stream.connect() }
        #expect(error?.code == answer.code && error?.message.contains("Also tried") == false, "\(error as Any)")
        #expect(await second.acceptedConnections == 0)
        #expect(clock.timerCount == 0)
        await first.stop()
        await second.stop()
    }

    @Test("a host that speaks something else is one that has answered")
    func otherProtocol() async throws {
        let server = try await verona()
        let executor = StreamExecutor()
        let listener = try ListeningSocket(.loopback(port: 0), on: executor)
        let visitors = Locked<[SocketTransport]>([])
        executor.queue.sync {
            listener.start { visitor in
                visitor.start { _ in }
                visitor.send(Array("SSH-2.0-OpenSSH_9.2\r\n".utf8))
                visitors.withLock { $0.append(visitor) }
            }
        }
        let stream = try await stream(server, at: [listener.address, .loopback(port: server.port)], TestClock())
        let error = await #expect(throws: XMPPError.self) { try await stream.connect() }
        #expect(error?.code == .protocolViolation && error?.message.contains("Also tried") == false, "\(error as Any)")
        #expect(await server.acceptedConnections == 0)
        await server.stop()
        executor.queue.sync {
            for visitor in visitors.withLock({ $0 }) { visitor.abort() }
            listener.close()
        }
    }

    @Test("a certificate that is refused at one place leads to the next place, past the other addresses of its host")
    func refusedPlace() async throws {
        let (first, second) = (try await verona { $0.certificateFlaw = .expired }, try await verona())
        let executor = StreamExecutor()
        let passedOver = try ListeningSocket(.loopback(port: 0), on: executor)
        let visits = Locked(0)
        executor.queue.sync { passedOver.start { _ in visits.withLock { $0 += 1 } } }
        var configuration = try await racing(second, [], TestClock())
        let port = try #require(first.directTLSPort)
        configuration.connector = FixedPlaces(
            [ConnectionTarget(host: "xmpp.example.org", security: .directTLS), try place(second.port)],
            network: NetworkConnector(
                addresses: FixedAddresses(addresses: [.loopback(port: port), passedOver.address])))
        let stream = XMPPStream(configuration)
        try await stream.connect()
        #expect(await stream.endpoint == "127.0.0.1:\(second.port)")
        #expect(visits.withLock { $0 } == 0)
        await stream.disconnect()
        await first.stop()
        await second.stop()
        executor.queue.sync { passedOver.close() }
    }

    @Test("an address whose certificate is refused ends the race of its host, except for those that are on their way")
    func refusedScout() async throws {
        let server = try await verona()
        var options = LoopbackOptions()
        options.certificateNames = [.dns("other.example")]
        let impostor = try await LoopbackServer.start(domain: "example.net", options: options)
        let listener = try ListeningSocket(.loopback(port: 0), on: StreamExecutor())
        let clock = TestClock()
        var configuration = try await racing(server, [], clock)
        let refused = Handover<Void>()
        configuration.observer = StreamObserver(milestone: { if case .failed = $0 { refused.give(()) } })
        let ports = [listener.address.port, impostor.directTLSPort, server.directTLSPort].compactMap { $0 }
        configuration.connector = FixedPlaces(
            [ConnectionTarget(host: "xmpp.example.org", port: 5223, security: .directTLS)],
            network: NetworkConnector(
                addresses: FixedAddresses(addresses: ports.map { SocketAddress.loopback(port: $0) })))
        let stream = XMPPStream(configuration)
        let connected = Task { try await stream.connect() }
        // The race's, the negotiation's and TLS's.
        await clock.waitForTimers(3)
        await clock.advance(by: XMPPStream.raceDelay)
        await refused.value()
        await clock.advance(by: .seconds(3_600))
        let error = await #expect(throws: XMPPError.self) { try await connected.value }
        #expect(error?.code == .certificateRejected, "\(error as Any)")
        #expect(await server.acceptedConnections == 0)
        await impostor.stop()
        await server.stop()
        withExtendedLifetime(listener) {}
    }

    @Test("who cannot tell addresses apart is sent to each place once, though it is silent there")
    func addressesNotChosen() async throws {
        let server = try await verona()
        let executor = StreamExecutor()
        let listener = try ListeningSocket(.loopback(port: 0), on: executor)
        let visits = Locked(0)
        executor.queue.sync {
            listener.start { connection in
                visits.withLock { $0 += 1 }
                connection.close()
            }
        }
        var configuration = try await racing(server, [], TestClock())
        var places = FixedPlaces(
            [ConnectionTarget(host: "xmpp.example.org", port: 5222)],
            network: NetworkConnector(
                addresses: FixedAddresses(addresses: [listener.address, .loopback(port: server.port)])))
        places.choosesAddresses = false
        configuration.connector = places
        let stream = XMPPStream(configuration)
        let error = await #expect(throws: XMPPError.self) { try await stream.connect() }
        #expect(error?.code == .connectionLost)
        #expect(visits.withLock { $0 } == 1)
        #expect(await server.acceptedConnections == 0)
        await server.stop()
        executor.queue.sync { listener.close() }
    }

    @Test("where a host has no other address its silence is what the error tells, and nothing else")
    func onlyAddress() async throws {
        let server = try await verona()
        let listener = try ListeningSocket(.loopback(port: 0), on: StreamExecutor())
        let clock = TestClock()
        let stream = try await stream(server, at: [listener.address], clock)
        let connected = Task { try await stream.connect() }
        await clock.waitForTimers(2)
        await clock.advance(by: .seconds(3_600))
        let error = await #expect(throws: XMPPError.self) { try await connected.value }
        #expect(error?.code == .timedOut && error?.message.contains("other address") == false, "\(error as Any)")
        await server.stop()
        withExtendedLifetime(listener) {}
    }
}
