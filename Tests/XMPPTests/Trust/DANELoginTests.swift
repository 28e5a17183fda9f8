// SPDX-License-Identifier: Apache-2.0

import SocketIO
import Testing
import XMPPTestSupport
import XMPPTransport

@testable import XMPP

@Suite(
    "Logins whose server DNS vouches for (RFC 7673)", .enabled(if: SignedNameServer.isExpected), .timeLimit(.minutes(5))
)
struct DANELoginTests {
    /// Every host is this machine.
    private struct Here: AddressResolver {
        func addresses(of host: String, port: UInt16) async throws(ConnectError) -> [SocketAddress] {
            [.loopback(port: port)]
        }
    }

    /// A configuration that finds its server by a zone with these TLSA records.
    private func configuration(
        _ configuration: XMPPConfiguration, port: UInt16, tlsa: [String], isBogus: Bool = false
    ) async throws -> (XMPPConfiguration, SignedNameServer) {
        let domain = configuration.jid.domainpart
        let names = try await SignedNameServer.start(
            zone: domain,
            records: ["_xmpp-client._tcp 60 IN SRV 0 0 \(port) xmpp", "xmpp 60 IN A 127.0.0.1"]
                + tlsa.map { "_\(port)._tcp.xmpp 60 IN TLSA \($0)" })
        var keys = names.keys
        if isBogus {
            let other = try await SignedNameServer.start(zone: domain, records: [])
            keys = other.keys
            await other.stop()
        }
        let resolver = UnboundResolver(
            nameServers: .zone(domain + ".", at: .loopback(port: names.port)), trustedKeys: .records(keys))
        var changed = configuration
        changed.host = nil
        changed.port = nil
        changed.trust = .dane
        changed.connector = NetworkConnector(services: resolver, verifier: resolver, addresses: Here())
        return (changed, names)
    }

    private func login(_ configuration: XMPPConfiguration) async throws -> ChannelSecurity? {
        let stream = XMPPStream(configuration)
        try await stream.connect()
        try await stream.ping()
        let security = await stream.security
        await stream.disconnect()
        return security
    }

    private func fails(_ configuration: XMPPConfiguration) async -> XMPPError? {
        await #expect(throws: XMPPError.self) { _ = try await login(configuration) }
    }

    @Test("a key that signed records name is accepted without any authority, and resumed; another one is refused")
    func key() async throws {
        let server = try await verona { $0.certificateFlaw = .selfSigned }
        var probe = try await server.configuration(for: "romeo")
        probe.trust = .keys([])
        let key = try #require(await fails(probe)?.presentedKey)
        let (good, names) = try await configuration(probe, port: server.port, tlsa: ["3 1 1 \(key)"])
        #expect(try await login(good)?.proof == .dane)
        let second = try await login(good)
        #expect(second?.proof == .dane && second?.isResumed == true && second?.tlsa == .secure)
        await names.stop()
        let (bad, others) = try await configuration(
            probe, port: server.port, tlsa: ["3 1 1 \(String(repeating: "ab", count: 32))"])
        let before = await server.transcript.count { $0.element.localName == "auth" }
        #expect(await fails(bad)?.code == .certificateRejected)
        #expect(await server.transcript.count { $0.element.localName == "auth" } == before)
        await others.stop()
        await server.stop()
    }

    @Test("without records authorities count as ever; with a wrong signature nobody is connected to")
    func none() async throws {
        let server = try await verona()
        let plain = try await server.configuration(for: "romeo")
        let (none, names) = try await configuration(plain, port: server.port, tlsa: [])
        let security = try await login(none)
        #expect(security?.proof == .authority && security?.tlsa == .absent)
        #expect(try await login(plain)?.tlsa == nil, "not asked")
        await names.stop()
        let connections = await server.acceptedConnections
        let (bogus, others) = try await configuration(plain, port: server.port, tlsa: [], isBogus: true)
        let error = await fails(bogus)
        #expect(error?.code == .resolverFailed && error?.message.contains("cannot be verified") == true)
        #expect(await server.acceptedConnections == connections)
        await others.stop()
        await server.stop()
    }

    @Test("real servers are proven so as well", arguments: ServerKind.expected)
    func real(kind: ServerKind) async throws {
        let server = try await kind.start(domain: "example.org", accounts: ["romeo": "orchard"])
        let plain = try server.configuration(for: "romeo")
        let key = try #require(try await login(plain)?.keyFingerprint)
        var stranger = plain
        stranger.certificateAuthorityFile = nil
        let (good, names) = try await configuration(stranger, port: server.port, tlsa: ["3 1 1 \(key)"])
        #expect(try await login(good)?.proof == .dane)
        await names.stop()
        await server.stop()
    }

    // MARK: Races

    /// One host is never found, whoever asks; every other one is this machine.
    private struct HereButOne: AddressResolver {
        /// Given when the host is asked for.
        let asked = Handover<Void>()

        func addresses(of host: String, port: UInt16) async throws(ConnectError) -> [SocketAddress] {
            guard host.hasPrefix("black.") else { return [.loopback(port: port)] }
            asked.give(())
            let never = Handover<Void>()
            await withTaskCancellationHandler {
                await never.value()
            } onCancel: {
                never.give(())
            }
            throw ConnectError.cancelled
        }
    }

    /// A login to a domain whose signed zone names a place out of reach before a server, with keys of both.
    ///
    /// - Parameter keys: Of the place that is out of reach, and of the server; `nil` is its own one.
    private func race(
        _ server: LoopbackServer, isDirect: Bool, keys: (black: String?, live: String?)
    ) async throws -> (security: ChannelSecurity?, error: XMPPError?, time: Duration) {
        var changed = try await server.configuration(for: "romeo")
        changed.trust = .keys([])
        let own = try #require(await fails(changed)?.presentedKey).description
        let live = try #require(isDirect ? server.directTLSPort : server.port)
        let service = isDirect ? "_xmpps-client" : "_xmpp-client"
        let names = try await SignedNameServer.start(
            zone: changed.jid.domainpart,
            records: [
                "\(service)._tcp 60 IN SRV 0 0 \(live) black", "\(service)._tcp 60 IN SRV 1 0 \(live) live",
                "black 60 IN A 127.0.0.1", "live 60 IN A 127.0.0.1",
                "_\(live)._tcp.black 60 IN TLSA 3 1 1 \(keys.black ?? own)",
                "_\(live)._tcp.live 60 IN TLSA 3 1 1 \(keys.live ?? own)",
            ])
        let resolver = UnboundResolver(
            nameServers: .zone(changed.jid.domainpart + ".", at: .loopback(port: names.port)),
            trustedKeys: .records(names.keys))
        let addresses = HereButOne()
        changed.host = nil
        changed.port = nil
        changed.trust = .dane
        changed.connector = NetworkConnector(services: resolver, verifier: resolver, addresses: addresses)
        let clock = TestClock()
        changed.use(clock)
        let stream = XMPPStream(changed)
        let connected = Task { _ = try await stream.connect() }
        await addresses.asked.value()
        await clock.advance(by: XMPPStream.raceDelay)
        if keys.live != nil {
            // Whoever is refused wins nothing; the first one would be waited for.
            try await Patience.wait(for: "the refusal") { await server.acceptedConnections == 2 }
            try await Patience.wait(for: "the end of it") { await stream.hasNoScout }
            await stream.disconnect()
        }
        var failure: XMPPError?
        do {
            if keys.live == nil { try await Patience.wait(for: "the session") { await stream.isEstablished } }
        } catch {
            await stream.disconnect()
        }
        do {
            try await connected.value
        } catch {
            failure = error as? XMPPError
        }
        let security = await stream.security
        await stream.disconnect()
        await names.stop()
        return (security, failure, clock.now)
    }

    @Test("places are raced, and each is held to its own records (XEP-0495)", arguments: [false, true])
    func raced(isDirect: Bool) async throws {
        let server = try await verona { $0.certificateFlaw = .selfSigned }
        let wrong = String(repeating: "ab", count: 32)
        let outcome = try await race(server, isDirect: isDirect, keys: (wrong, nil))
        #expect(outcome.error == nil && outcome.time == XMPPStream.raceDelay)
        #expect(outcome.security?.proof == .dane && outcome.security?.tlsa == .secure)
        await server.stop()
    }

    @Test("a place that is raced is refused where its records name another key, whatever the others' name")
    func racedImpostor() async throws {
        // Authorities would do without the records.
        let server = try await verona()
        let wrong = String(repeating: "ab", count: 32)
        let before = await server.transcript.count { $0.element.localName == "auth" }
        let outcome = try await race(server, isDirect: true, keys: (nil, wrong))
        #expect(outcome.error != nil)
        #expect(await server.transcript.count { $0.element.localName == "auth" } == before)
        await server.stop()
    }
}

extension XMPPStream {
    /// Whether nobody is on the way to another place.
    fileprivate var hasNoScout: Bool { race?.running.isEmpty != false }
}
