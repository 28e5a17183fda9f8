// SPDX-License-Identifier: Apache-2.0

import COpenSSL
import SocketIO
import Testing
import XMPPTestSupport

@testable import XMPPTransport

@Suite("What signed DNS records say about certificates (RFC 7671, RFC 7673)", .timeLimit(.minutes(5)))
struct DANETests {
    private static let identity = ReferenceIdentity(domain: "example.org")
    private static let host = "xmpp.example.net"

    private func handshake(
        _ chain: [TestAuthority], _ records: [TLSARecord], trusting trust: TrustAnchors
    ) async throws -> Result<TLSProperties, TLSError> {
        let (client, server) = try SocketPair.transports(on: StreamExecutor(), and: StreamExecutor())
        let ours = try TLSTransport(
            over: client, context: .client(trust: trust), role: .client(Self.identity, offersProtocol: false),
            mode: .direct, dane: DANEProof(host: Self.host, records: records))
        let theirs = try TLSTransport(
            over: server,
            context: .server(certificate: .bytes(chain.flatMap(\.pem)), privateKey: .bytes(chain[0].key.pem)),
            role: .server, mode: .direct)
        async let other = theirs.handshakeAndStart(EventLog())
        let result = await ours.handshakeAndStart(EventLog())
        _ = await other
        ours.onQueue { $0.abort() }
        theirs.onQueue { $0.abort() }
        return result
    }

    private func leaf(_ name: String?, _ issuer: TestAuthority? = nil, notAfter: Int = 86_400) throws -> TestAuthority {
        var request = TestCertificateRequest(
            commonName: "leaf", alternativeNames: name.map { DER.sequence([DER.dns($0)]) })
        request.notAfter = notAfter
        return try TestAuthority(request, issuer: issuer)
    }

    private func record(_ usage: UInt8, _ authority: TestAuthority, selector: UInt8 = 1) throws -> TLSARecord {
        let data =
            selector == 1
            ? try #require(CertificateReader.keyFingerprint(authority.handle))
            : CertificateReader.certificate(authority.handle).fingerprint
        return TLSARecord(usage: usage, selector: selector, matchingType: 1, data: data)
    }

    @Test(
        "the server's own key, or certificate, is proof enough: no authority, name or date is asked for (RFC 7671 §5.1)",
        arguments: [0, 1] as [UInt8])
    func ownKey(selector: UInt8) async throws {
        for (name, notAfter) in [
            ("example.org", 86_400), ("other.example", 86_400), (nil, 86_400), ("example.org", -60),
        ] {
            let leaf = try leaf(name, notAfter: notAfter)
            let anchor = try TestAuthority.root("Unrelated")
            let properties = try await handshake(
                [leaf], [record(3, leaf, selector: selector)], trusting: .pem(anchor.pem)
            ).get()
            #expect(properties.proof == .dane && properties.matchedName == nil)
            #expect(properties.certificates.count == 1)
        }
    }

    @Test("another key is refused though an authority vouches for it; one of several records is enough")
    func otherKey() async throws {
        let root = try TestAuthority.root()
        let leaf = try leaf("example.org", root)
        let other = try record(3, root)
        guard case .failure(let error) = try await handshake([leaf, root], [other], trusting: .pem(root.pem)) else {
            Issue.record("accepted")
            return
        }
        #expect(error.concernsCertificate, "\(error)")
        let both = try await handshake([leaf, root], [other, record(3, leaf)], trusting: .pem(root.pem)).get()
        #expect(both.proof == .dane)
    }

    @Test(
        "an authority that the records name needs no trust here, but a name: the domain's or the host's (RFC 7671 §5.2)",
        arguments: [("example.org", true), (host, true), ("other.example", false)])
    func authority(_ name: String, _ isProven: Bool) async throws {
        let root = try TestAuthority.root()
        let leaf = try leaf(name, root)
        let result = try await handshake(
            [leaf, root], [record(2, root)], trusting: .pem(TestAuthority.root("Unrelated").pem))
        switch result {
        case .success(let properties):
            #expect(isProven && properties.proof == .dane && properties.matchedName?.description == name)
        case .failure(let error):
            guard case .certificateNameMismatch = error else {
                Issue.record("\(error)")
                return
            }
            #expect(!isProven)
        }
    }

    @Test("records that go along with authorities leave these in force (RFC 7671 §5.3)", arguments: [true, false])
    func alongside(isTrusted: Bool) async throws {
        let root = try TestAuthority.root()
        let leaf = try leaf("example.org", root)
        let anchor = isTrusted ? root : try .root("Unrelated")
        let result = try await handshake([leaf, root], [record(1, leaf)], trusting: .pem(anchor.pem))
        #expect(((try? result.get())?.proof == .dane) == isTrusted)
    }

    @Test("records that nobody can use are as if they were not there (RFC 7671 §2.3)", arguments: [true, false])
    func unusable(isTrusted: Bool) async throws {
        let root = try TestAuthority.root()
        let leaf = try leaf("example.org", root)
        let records = [
            TLSARecord(usage: 9, selector: 1, matchingType: 1, data: [UInt8](repeating: 0, count: 32)),
            TLSARecord(usage: 3, selector: 1, matchingType: 1, data: [1, 2, 3]),
            TLSARecord(usage: 3, selector: 1, matchingType: 200, data: [1]),
        ]
        let anchor = isTrusted ? root : try .root("Unrelated")
        let result = try await handshake([leaf, root], records, trusting: .pem(anchor.pem))
        #expect(((try? result.get())?.proof == .authority) == isTrusted)
    }

    @Test("a record without data is none")
    func wireFormat() {
        #expect(TLSARecord(wireFormat: []) == nil && TLSARecord(wireFormat: [3, 1, 1]) == nil)
        #expect(
            TLSARecord(wireFormat: [3, 1, 1, 9, 8])
                == TLSARecord(usage: 3, selector: 1, matchingType: 1, data: [9, 8]))
    }

    // MARK: Name servers

    private static let pin = String(repeating: "ab", count: 32)

    private static let zone = [
        "_xmpp-client._tcp 60 IN SRV 0 0 5222 xmpp", "_xmpps-client._tcp 60 IN SRV 0 0 5223 elsewhere.example.net.",
        "xmpp 60 IN A 127.0.0.1", "_5222._tcp.xmpp 60 IN TLSA 3 1 1 \(pin)", "_5999._tcp.xmpp 60 IN TLSA 3 1 1 \(pin)",
    ]

    /// A connector whose name servers are one with a signed zone, and what it says about a place.
    private func proof(
        _ server: SignedNameServer, keys: [String]? = nil, _ target: ConnectionTarget, isGiven: Bool = false
    ) async throws -> DANEAnswer {
        let resolver = UnboundResolver(
            nameServers: .zone("example.org.", at: .loopback(port: server.port)),
            trustedKeys: .records(keys ?? server.keys))
        return try await NetworkConnector(services: resolver, verifier: resolver)
            .proof(of: target, domain: "example.org", isGiven: isGiven)
    }

    private static let target = ConnectionTarget(host: "xmpp.example.org", port: 5222)
    private static let record = TLSARecord(
        usage: 3, selector: 1, matchingType: 1, data: [UInt8](repeating: 0xAB, count: 32))

    @Test("signed records of a place that signed records name are a proof", .enabled(if: SignedNameServer.isExpected))
    func secure() async throws {
        let server = try await SignedNameServer.start(zone: "example.org", records: Self.zone)
        let expected = DANEAnswer.secure(DANEProof(host: "xmpp.example.org", records: [Self.record]))
        #expect(try await proof(server, Self.target) == expected)
        let given = ConnectionTarget(host: "xmpp.example.org", port: 5999)
        #expect(try await proof(server, given, isGiven: true) == expected)
        #expect(try await proof(server, given) == .insecure, "no signed record of the domain names that port")
        let direct = ConnectionTarget(host: "xmpp.example.org", port: 5222, security: .directTLS)
        #expect(try await proof(server, direct) == .insecure, "nor as a place of direct TLS")
        let absent = ConnectionTarget(host: "ns.example.org", port: 5222)
        #expect(try await proof(server, absent, isGiven: true) == .absent, "no TLSA record, and that is signed")
        await server.stop()
    }

    @Test(
        "records that nobody here can verify are none; those that are wrongly signed end the attempt (RFC 7673 §3.1)",
        .enabled(if: SignedNameServer.isExpected))
    func insecureAndBogus() async throws {
        let server = try await SignedNameServer.start(zone: "example.org", records: Self.zone)
        let other = try await SignedNameServer.start(zone: "example.org", records: [])
        let elsewhere = other.keys.map { $0.replacing("example.org.", with: "example.com.") }
        #expect(try await proof(server, keys: elsewhere, Self.target) == .insecure)
        for isGiven in [false, true] {
            let error = await #expect(throws: ConnectError.self) {
                try await proof(server, keys: other.keys, Self.target, isGiven: isGiven)
            }
            guard case .notVerifiable? = error else {
                Issue.record("\(error as Any)")
                break
            }
            #expect(error?.description.contains("cannot be verified") == true)
        }
        await other.stop()
        await server.stop()
    }

    @Test("signed records of a place that unsigned ones name are none: anybody could have named it (RFC 7673 §3.1)")
    func unsignedServices() async throws {
        struct Half: VerifyingResolver {
            let canVerify = true
            func verifiedServices(for name: String) async -> VerifiedAnswer<SRVRecord> { .insecure([]) }
            func verifiedKeys(for name: String) async -> VerifiedAnswer<TLSARecord> { .secure([DANETests.record]) }
        }
        let connector = NetworkConnector(verifier: Half())
        #expect(try await connector.proof(of: Self.target, domain: "example.org", isGiven: false) == .insecure)
        #expect(try await connector.proof(of: Self.target, domain: "example.org", isGiven: true).proof != nil)
    }

    @Test("without keys to begin at, nothing is believed, and the reason says what is missing")
    func noKeys() async throws {
        struct Nothing: VerifyingResolver {
            let canVerify = false
            func verifiedServices(for name: String) async -> VerifiedAnswer<SRVRecord> { .secure([]) }
            func verifiedKeys(for name: String) async -> VerifiedAnswer<TLSARecord> { .secure([]) }
        }
        let error = await #expect(throws: ConnectError.self) {
            try await NetworkConnector(verifier: Nothing()).proof(
                of: Self.target, domain: "example.org", isGiven: false)
        }
        #expect(error?.description.contains("dns-root-data") == true)
        let address = ConnectionTarget(host: "127.0.0.1", port: 5222)
        let none = try await NetworkConnector(verifier: Nothing()).proof(
            of: address, domain: "example.org", isGiven: true)
        #expect(none == .notAsked, "an address has no name to ask about")
    }
}
