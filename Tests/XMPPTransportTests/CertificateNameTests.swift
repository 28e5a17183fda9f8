// SPDX-License-Identifier: Apache-2.0

import COpenSSL
import Foundation
import SocketIO
import Testing
import XMPPTestSupport

@testable import XMPPTransport

/// One row of the table of names.
struct CertificateRow: Sendable, CustomTestStringConvertible {
    let domain: String
    let presented: String
    let matches: Bool
    let why: String

    var testDescription: String { "\(domain) <- \(presented) (\(why))" }

    /// Tests/Vectors/certnames.tsv, whose head names its columns and its sources (RFC 6120, RFC 6125, RFC 9525).
    static let all: [CertificateRow] = ((try? VectorFile.rows("certnames.tsv")) ?? []).map { columns in
        CertificateRow(domain: columns[0], presented: columns[2], matches: columns[3] == "match", why: columns[5])
    }

    static let names = all.filter { !$0.presented.hasPrefix("CHAIN:") }
    static let chains = all.filter { $0.presented.hasPrefix("CHAIN:") }

    /// The domains of the table that are no A-labels (RFC 5891).
    private static let asciiDomains = [
        "bücher.example": "xn--bcher-kva.example",
        "bücher.example.org": "xn--bcher-kva.example.org",
        "im.bücher.example": "im.xn--bcher-kva.example",
        "faß.de": "xn--fa-hia.de",
    ]

    var identity: ReferenceIdentity {
        ReferenceIdentity(domain: Self.asciiDomains[domain] ?? domain, unicodeDomain: domain)
    }
}

@Suite(.timeLimit(.minutes(5))) struct CertificateNameTests {
    /// Makes the certificate that a row describes.
    private func request(_ row: CertificateRow) throws -> TestCertificateRequest {
        var names: [[UInt8]] = []
        var commonName = ""
        for entry in row.presented.split(separator: ";").map(String.init) {
            let colon = try #require(entry.firstIndex(of: ":"))
            let value = String(entry[entry.index(after: colon)...]).replacing("{0x00}", with: "\u{0}")
            switch entry[..<colon] {
            case "DNS": names.append(DER.dns(value))
            case "SRV": names.append(DER.service(value))
            case "XMPP": names.append(DER.xmpp(value))
            case "IP": names.append(DER.address(try #require(SocketAddress(literal: value, port: 0)).hostBytes))
            case "URI": names.append(DER.value(0x86, Array(value.utf8)))
            case "EMAIL": names.append(DER.value(0x81, Array(value.utf8)))
            case "CN": commonName = value
            default: Issue.record("unknown kind in \(row.presented)")
            }
        }
        return TestCertificateRequest(
            commonName: commonName, alternativeNames: names.isEmpty ? nil : DER.sequence(names))
    }

    @Test("the whole table is there")
    func tableIsComplete() {
        #expect(CertificateRow.names.count == 46)
        #expect(CertificateRow.chains.count == 11)
    }

    @Test(
        "a certificate proves the JID's domain by DNS-ID, SRV-ID, XmppAddr or IP-ID, and by nothing else (RFC 6120 §13.7.1.2.1)",
        arguments: CertificateRow.names)
    func names(row: CertificateRow) async throws {
        let root = try TestAuthority.root()
        let leaf = try TestAuthority(request(row), issuer: root)
        let server = try TLSContext.server(certificate: .bytes(leaf.pem), privateKey: .bytes(leaf.key.pem))
        let client = try TLSContext.client(trust: .pem(root.pem))
        for startTLS in [false, true] {
            let pair = try TLSPair(client: client, server: server, identity: row.identity, startTLS: startTLS)
            let result = await pair.handshake()
            try check(result.client, row, pair)
            pair.end()
        }
    }

    private func check(_ result: Result<TLSProperties, TLSError>, _ row: CertificateRow, _ pair: TLSPair) throws {
        switch result {
        case .success(let properties):
            #expect(row.matches)
            #expect(properties.identity == row.identity)
            #expect(properties.matchedName != nil)
        case .failure(.certificateNameMismatch(let expected, _)):
            #expect(!row.matches)
            #expect(expected == row.identity.description)
            // Not a byte reached the other side as plaintext.
            #expect(!pair.serverLog.events.contains { if case .received = $0 { true } else { false } })
        case .failure(let error):
            Issue.record("\(error)")
        }
    }

    @Test("the message names both the domain and what the certificate says")
    func mismatchMessage() async throws {
        let root = try TestAuthority.root()
        let names = DER.sequence([
            DER.dns("other.example.org"), DER.xmpp("evil\u{202E}.example"), DER.dns("a\u{1B}[2J"),
        ])
        let leaf = try TestAuthority(TestCertificateRequest(alternativeNames: names), issuer: root)
        let pair = try TLSPair(
            client: .client(trust: .pem(root.pem)),
            server: .server(certificate: .bytes(leaf.pem), privateKey: .bytes(leaf.key.pem)),
            identity: ReferenceIdentity(domain: "im.example.com"))
        guard case .failure(let error) = await pair.handshake().client else {
            Issue.record("accepted")
            return
        }
        #expect(
            error.description == "the server's certificate is not valid for im.example.com: it is made out to "
                + "other.example.org, xmpp:evil\u{FFFD}.example, a\u{FFFD}[2J")
        #expect(error.concernsCertificate)
    }
}

@Suite(.timeLimit(.minutes(5))) struct CertificateChainTests {
    private static let domain = "im.example.com"
    private static let names = DER.sequence([DER.dns(domain)])

    /// A server's certificates, the first its own, with the key; and what the client trusts.
    private struct Setup {
        var chain: [TestAuthority]
        var anchor: TestAuthority
        var settings = TLSSettings()

        func context() throws -> TLSContext {
            try .server(
                certificate: .bytes(chain.flatMap(\.pem)), privateKey: .bytes(chain[0].key.pem), settings: settings)
        }
    }

    private func leaf(
        _ issuer: TestAuthority?, key: TestKey? = nil, change: (inout TestCertificateRequest) -> Void = { _ in }
    ) throws -> TestAuthority {
        var request = TestCertificateRequest(alternativeNames: Self.names)
        change(&request)
        return try TestAuthority(request, issuer: issuer, key: key)
    }

    private func setup(_ row: CertificateRow) throws -> Setup {
        let root = try TestAuthority.root()
        func intermediate(isAuthority: Bool = true, excluding domain: String? = nil) throws -> TestAuthority {
            try TestAuthority(
                TestCertificateRequest(
                    commonName: "Intermediate", isAuthority: isAuthority, excludedDomain: domain), issuer: root)
        }
        var weak = TLSSettings()
        weak.securityLevel = 0
        switch row.presented.dropFirst(6) {
        case let text where text.hasPrefix("leaf issued by a non-CA"):
            let middle = try intermediate(isAuthority: false)
            return Setup(chain: [try leaf(middle), middle], anchor: root)
        case let text where text.hasPrefix("issuer has nameConstraints"):
            let middle = try intermediate(excluding: "example.com")
            return Setup(chain: [try leaf(middle), middle], anchor: root)
        case let text where text.hasPrefix("self-signed leaf"):
            return Setup(chain: [try leaf(nil)], anchor: root)
        case let text where text.hasPrefix("leaf with extendedKeyUsage clientAuth"):
            return Setup(chain: [try leaf(root) { $0.purpose = 2 }], anchor: root)
        case let text where text.hasPrefix("leaf signed with SHA-1"):
            return Setup(chain: [try leaf(root) { $0.digest = EVP_sha1() }], anchor: root, settings: weak)
        case let text where text.hasPrefix("512/1024-bit RSA"):
            return Setup(chain: [try leaf(root, key: TestKey(rsaBits: 1024))], anchor: root, settings: weak)
        case let text where text.hasPrefix("leaf is a CA"):
            return Setup(chain: [try leaf(root) { $0.isAuthority = true }], anchor: root)
        case let text where text.hasPrefix("missing intermediate"):
            return Setup(chain: [try leaf(intermediate())], anchor: root)
        case let text where text.hasPrefix("server sends the chain in the wrong order"):
            let middle = try intermediate()
            return Setup(chain: [try leaf(middle), try .root("Unrelated"), root, middle], anchor: root)
        case let text where text.hasPrefix("TLS 1.1 only"):
            weak.minimumVersion = .tls11
            weak.maximumVersion = .tls11
            return Setup(chain: [try leaf(root)], anchor: root, settings: weak)
        case let text where text.hasPrefix("anonymous or NULL"):
            weak.cipherList = "aNULL:eNULL:@SECLEVEL=0"
            weak.maximumVersion = .tls12
            return Setup(chain: [try leaf(root)], anchor: root, settings: weak)
        default:
            throw TLSError.configuration("no such case: \(row.presented)")
        }
    }

    private func handshake(
        _ setup: Setup, startTLS: Bool = false
    ) async throws -> Result<TLSProperties, TLSError> {
        let pair = try TLSPair(
            client: .client(trust: .pem(setup.anchor.pem)), server: setup.context(),
            identity: ReferenceIdentity(domain: Self.domain), startTLS: startTLS)
        let result = await pair.handshake()
        // Not a byte reached the other side as plaintext.
        #expect(!pair.serverLog.events.contains { if case .received = $0 { true } else { false } })
        pair.end()
        return result.client
    }

    /// What a refusal must be called, by the beginning of the row.
    private static let kinds = [
        ("leaf issued by a non-CA", "rejected"), ("issuer has nameConstraints", "rejected"),
        ("self-signed leaf", "selfSigned"), ("leaf with extendedKeyUsage clientAuth", "rejected"),
        ("leaf signed with SHA-1", "rejected"), ("512/1024-bit RSA", "rejected"), ("leaf is a CA", "rejected"),
        ("missing intermediate", "untrusted"), ("TLS 1.1 only", "version"), ("anonymous or NULL", "handshake"),
    ]

    private func kind(_ error: TLSError) -> String {
        switch error {
        case .certificateRejected: "rejected"
        case .selfSigned: "selfSigned"
        case .untrustedIssuer: "untrusted"
        case .versionTooOld: "version"
        case .handshakeFailed: "handshake"
        default: "\(error)"
        }
    }

    @Test("a path that RFC 5280 or the policy forbids is refused, for that reason", arguments: CertificateRow.chains)
    func chains(row: CertificateRow) async throws {
        let setup = try setup(row)
        for startTLS in [false, true] {
            switch try await handshake(setup, startTLS: startTLS) {
            case .success: #expect(row.matches)
            case .failure(let error):
                #expect(!row.matches, "\(error)")
                let expected = Self.kinds.first { row.presented.dropFirst(6).hasPrefix($0.0) }?.1
                #expect(kind(error) == expected, "\(error)")
            }
        }
    }

    @Test("the reason for a refusal is told apart")
    func reasons() async throws {
        let root = try TestAuthority.root()
        let expired = try leaf(root) { $0.notAfter = -60 }
        guard case .failure(.expired(_, let notAfter)) = try await handshake(Setup(chain: [expired], anchor: root))
        else {
            Issue.record("not expired")
            return
        }
        #expect(notAfter.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/) != nil)
        let early = try leaf(root) { $0.notBefore = 3600 }
        guard case .failure(.notYetValid) = try await handshake(Setup(chain: [early], anchor: root)) else {
            Issue.record("valid already")
            return
        }
        let own = try leaf(nil) { $0.commonName = "Own" }
        #expect(
            try await handshake(Setup(chain: [own], anchor: root)) == .failure(.selfSigned(subject: "CN=Own")))
        let stranger = try TestAuthority.root("Stranger")
        let foreign = try leaf(stranger) { $0.commonName = "Leaf" }
        #expect(
            try await handshake(Setup(chain: [foreign], anchor: root))
                == .failure(.untrustedIssuer(subject: "CN=Leaf", issuer: "CN=Stranger")))
        var old = TLSSettings()
        old.securityLevel = 0
        old.minimumVersion = .tls10
        old.maximumVersion = .tls11
        #expect(
            try await handshake(Setup(chain: [try leaf(root)], anchor: root, settings: old)) == .failure(.versionTooOld)
        )
    }

    @Test(
        "a server's own certificate as CA file is trusted, even one that calls itself an authority",
        arguments: [false, true])
    func pinned(isAuthority: Bool) async throws {
        let own = try leaf(nil) {
            $0.commonName = "Own"
            $0.isAuthority = isAuthority
        }
        let result = try await handshake(Setup(chain: [own], anchor: own))
        #expect(throws: Never.self) { try result.get() }
    }

    @Test("a pinned certificate must still be made out to the domain")
    func pinnedForAnother() async throws {
        let own = try leaf(nil) { $0.alternativeNames = DER.sequence([DER.dns("example.net")]) }
        #expect(
            try await handshake(Setup(chain: [own], anchor: own))
                == .failure(.certificateNameMismatch(expected: Self.domain, presented: ["example.net"])))
    }
}
