// SPDX-License-Identifier: Apache-2.0

import COpenSSL
import Glibc
import Testing

@testable import XMPPTransport

@Suite("Sessions of TLS that go on (RFC 8446 §2.2, RFC 5077)", .timeLimit(.minutes(5)))
struct TLSResumptionTests {
    private static let domain = "im.example.com"

    /// A server with a certificate for two domains, and a client that trusts its authority.
    private struct Place {
        let client: TLSContext
        let server: TLSContext
        let leaf: TestAuthority
        let root: TestAuthority

        init(
            _ version: TLSSettings.Version = .tls13, pins: Bool = false, asksForCertificates: Bool = false,
            hasExtendedMasterSecret: Bool = true
        ) throws {
            root = try TestAuthority.root()
            let names = DER.sequence([DER.dns(TLSResumptionTests.domain), DER.dns("other.example.com")])
            leaf = try TestAuthority(TestCertificateRequest(alternativeNames: names), issuer: root)
            var settings = TLSSettings()
            settings.maximumVersion = version
            server = try .server(
                certificate: .bytes(leaf.pem), privateKey: .bytes(leaf.key.pem),
                clientAuthorities: asksForCertificates ? root.pem : nil, settings: settings)
            // SSL_OP_NO_EXTENDED_MASTER_SECRET, a macro that Swift does not import.
            if !hasExtendedMasterSecret { _ = SSL_CTX_set_options(server.handle, 1) }
            let key = try #require(CertificateReader.keyFingerprint(leaf.handle))
            var request = TestCertificateRequest(commonName: "client")
            request.purpose = 2
            let own = try TestAuthority(request, issuer: root)
            client = try .client(
                trust: pins ? .keys([key]) : .pem(root.pem),
                identity: asksForCertificates
                    ? .pem(certificate: .bytes(own.pem), privateKey: .bytes(own.key.pem)) : nil)
        }

        /// Connects, exchanges a word, and ends: with a goodbye, or without.
        func connect(
            as owner: String? = "juliet@im.example.com", to domain: String = TLSResumptionTests.domain,
            startTLS: Bool = false, isOrderly: Bool = true
        ) async throws -> (client: TLSProperties, server: TLSProperties) {
            let pair = try TLSPair(
                client: client, server: server, identity: ReferenceIdentity(domain: domain), startTLS: startTLS,
                resumingFor: owner)
            defer { pair.end() }
            let result = await pair.handshake()
            let properties = (client: try result.client.get(), server: try result.server.get())
            // Tickets come before it.
            pair.server.onQueue { $0.send([1]) }
            await pair.clientLog.waitForBytes(1)
            if isOrderly {
                pair.client.onQueue { $0.close() }
                await pair.serverLog.waitForEndOfInput()
            } else {
                pair.client.onQueue { $0.abort() }
                await pair.serverLog.waitForEnd()
            }
            return properties
        }
    }

    @Test(
        "the second connection resumes the first: bindings are right on both sides, the certificate is still known",
        arguments: [TLSSettings.Version.tls12, .tls13], [(false, true), (true, true), (false, false)])
    func resumes(_ version: TLSSettings.Version, _ way: (pins: Bool, isOrderly: Bool)) async throws {
        let place = try Place(version, pins: way.pins)
        let first = try await place.connect(isOrderly: way.isOrderly)
        #expect(!first.client.isResumed && !first.server.isResumed)
        for _ in 0..<3 {
            let next = try await place.connect(isOrderly: way.isOrderly)
            #expect(next.client.isResumed && next.server.isResumed)
            #expect(next.client.exporterBinding != nil && next.client.exporterBinding == next.server.exporterBinding)
            #expect(next.client.exporterBinding != first.client.exporterBinding)
            #expect(next.client.serverEndPointBinding == first.client.serverEndPointBinding)
            #expect(next.client.serverEndPointBinding == next.server.serverEndPointBinding)
            #expect(next.client.certificates == first.client.certificates && !next.client.certificates.isEmpty)
            #expect(next.client.matchedName == first.client.matchedName && next.client.proof == first.client.proof)
            #expect((next.client.matchedName == nil) == way.pins)
            #expect(next.client.applicationProtocol == "xmpp-client")
        }
    }

    @Test("nobody is offered the session of somebody else, of another domain, or of another way in")
    func apart() async throws {
        let place = try Place()
        _ = try await place.connect()
        #expect(try await !place.connect(as: "romeo@im.example.com").client.isResumed)
        #expect(try await !place.connect(as: nil).client.isResumed)
        #expect(try await !place.connect(to: "other.example.com").client.isResumed)
        #expect(try await !place.connect(startTLS: true).client.isResumed)
        #expect(try await place.connect().client.isResumed)
        place.client.forgetSessions(of: "juliet@im.example.com")
        #expect(try await !place.connect().client.isResumed)
        #expect(try await place.connect(as: "romeo@im.example.com").client.isResumed)
    }

    @Test(
        "a certificate that has expired since is refused as if it had just been shown (RFC 6120 §13.7.2.3)",
        arguments: [TLSSettings.Version.tls12, .tls13])
    func expired(version: TLSSettings.Version) async throws {
        let place = try Place(version)
        _ = try await place.connect()
        #expect(place.client.sessions.count > 0)
        // A year from now.
        X509_VERIFY_PARAM_set_time(SSL_CTX_get0_param(place.client.handle), time(nil) + 31_536_000)
        let error = await #expect(throws: TLSError.self) { _ = try await place.connect() }
        guard case .expired? = error else {
            Issue.record("\(error as Any)")
            return
        }
        #expect(place.client.sessions.count == 0)
    }

    @Test("a server that has forgotten everything gets a whole handshake, and its certificate is checked")
    func forgotten() async throws {
        let place = try Place()
        _ = try await place.connect()
        let stranger = try TestAuthority(
            TestCertificateRequest(alternativeNames: DER.sequence([DER.dns(Self.domain)])))
        let pair = try TLSPair(
            client: place.client,
            server: .server(certificate: .bytes(stranger.pem), privateKey: .bytes(stranger.key.pem)),
            identity: ReferenceIdentity(domain: Self.domain), resumingFor: "juliet@im.example.com")
        guard case .failure(.selfSigned) = await pair.handshake().client else {
            Issue.record("accepted")
            return
        }
        pair.end()
        #expect(place.client.sessions.count == 0, "what failed is not tried again")
    }

    @Test("a session of TLS 1.2 that is bound to nothing is not kept (RFC 7677 §4)")
    func unbound() async throws {
        let place = try Place(.tls12, hasExtendedMasterSecret: false)
        _ = try await place.connect()
        #expect(place.client.sessions.count == 0)
    }

    @Test(
        "a server that asks for certificates still knows who has come back",
        arguments: [TLSSettings.Version.tls12, .tls13])
    func clientCertificates(version: TLSSettings.Version) async throws {
        let place = try Place(version, asksForCertificates: true)
        let first = try await place.connect()
        let second = try await place.connect()
        #expect(second.client.isResumed && first.server.certificates.map(\.subject) == ["CN=client"])
        #expect(second.server.certificates == first.server.certificates)
    }

    @Test("of a peer the latest sessions are kept, of peers the last ones seen; each is given once")
    func bounds() throws {
        func key(_ number: Int) -> TLSSessionKey {
            TLSSessionKey(owner: "\(number)", identity: ReferenceIdentity(domain: Self.domain), offersProtocol: false)
        }
        func session() throws -> TLSSession { TLSSession(owning: try #require(SSL_SESSION_new())) }
        let cache = TLSSessionCache()
        let three = try [session(), session(), session()]
        for session in three { cache.keep(session, for: key(0)) }
        #expect(cache.count == TLSSessionCache.maximumSessions)
        #expect(cache.take(for: key(0)) === three[2] && cache.take(for: key(0)) === three[1])
        #expect(cache.take(for: key(0)) == nil && cache.count == 0)
        for number in 0...TLSSessionCache.maximumKeys { cache.keep(try session(), for: key(number)) }
        #expect(cache.count == TLSSessionCache.maximumKeys)
        #expect(cache.take(for: key(0)) == nil && cache.take(for: key(1)) != nil)
        cache.forget(key(2))
        cache.forget(owner: "3")
        #expect(cache.take(for: key(2)) == nil && cache.take(for: key(3)) == nil)
        #expect(cache.count == TLSSessionCache.maximumKeys - 3)
    }
}
