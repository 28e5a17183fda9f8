// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPTestSupport

@testable import XMPP

@Suite("What proves an account beside its password, on real servers", .timeLimit(.minutes(3)))
struct RealProofTests {
    private static let withCertificates = ([.ejabberd] + ServerKind.newer).filter(\.isExpected)

    private func fails(_ configuration: XMPPConfiguration) async -> XMPPError? {
        let stream = XMPPStream(configuration)
        let error = await #expect(throws: XMPPError.self) { try await stream.connect() }
        await stream.disconnect()
        return error
    }

    @Test(
        "a certificate logs in to the account that it names (XEP-0178 §2)", arguments: withCertificates, [false, true])
    func certificate(kind: ServerKind, directTLS: Bool) async throws {
        let server = try await kind.start(accounts: ["romeo": "orchard"], proof: .certificate)
        var configuration = try server.configuration(for: "romeo", directTLS: directTLS)
        configuration.password = nil
        configuration.usesTokens = false
        let names = [TestCertificate.Name.xmppAddress("romeo@example.org")]
        // The flaw of a server's certificate is what a client's has to have.
        let made = try server.authority.issue(names: names, flaw: .missingServerPurpose)
        configuration.clientCertificate = .pem(certificate: made.certificate, key: made.privateKey)
        let stream = XMPPStream(configuration)
        try await stream.connect()
        #expect(await stream.mechanism == "EXTERNAL")
        try await stream.ping()
        await stream.disconnect()
        let stranger = try TestAuthority(name: "stranger").issue(names: names, flaw: .missingServerPurpose)
        configuration.clientCertificate = .pem(certificate: stranger.certificate, key: stranger.privateKey)
        #expect(await fails(configuration) != nil, "another authority's")
        configuration.clientCertificate = nil
        #expect(await fails(configuration) != nil)
        await server.stop()
    }

    @Test(
        "an access token that the server has made logs in, another one does not (RFC 7628)",
        arguments: [ServerKind.prosody13].filter(\.isExpected), [false, true])
    func accessToken(kind: ServerKind, usesSASL2: Bool) async throws {
        let server = try await kind.start(accounts: ["romeo": "orchard"], proof: .accessToken)
        var configuration = try server.configuration(for: "romeo")
        configuration.password = nil
        configuration.usesTokens = false
        configuration.usesSASL2 = usesSASL2
        configuration.accessToken = Password(try #require(server.accessToken(of: "romeo")))
        let stream = XMPPStream(configuration)
        try await stream.connect()
        #expect(await stream.mechanism == "OAUTHBEARER")
        try await stream.ping()
        await stream.disconnect()
        configuration.accessToken = "secret-token:wrong"
        #expect(await fails(configuration)?.code == .authenticationRefused)
        await server.stop()
    }
}
