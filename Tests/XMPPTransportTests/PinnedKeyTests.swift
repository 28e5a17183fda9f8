// SPDX-License-Identifier: Apache-2.0

import COpenSSL
import SocketIO
import Testing

@testable import XMPPTransport

@Suite("Servers that are known by their key (RFC 7671 §5.1)", .timeLimit(.minutes(5)))
struct PinnedKeyTests {
    private static let identity = ReferenceIdentity(domain: "im.example.com")

    /// SHA-256 of a key, by another way than the one under test: as OpenSSL writes public keys.
    private func fingerprint(_ key: TestKey) throws -> [UInt8] {
        var buffer: UnsafeMutablePointer<UInt8>?
        let count = i2d_PUBKEY(key.handle, &buffer)
        defer { CRYPTO_free(buffer, nil, 0) }
        var digest = [UInt8](repeating: 0, count: 32)
        try #require(EVP_Digest(buffer, Int(count), &digest, nil, EVP_sha256(), nil) == 1)
        return digest
    }

    private func handshake(
        _ chain: [TestAuthority], trusting trust: TrustAnchors
    ) async throws -> (result: Result<TLSProperties, TLSError>, presentedKey: [UInt8]?) {
        let pair = try TLSPair(
            client: .client(trust: trust),
            server: .server(certificate: .bytes(chain.flatMap(\.pem)), privateKey: .bytes(chain[0].key.pem)),
            identity: Self.identity)
        defer { pair.end() }
        let result = await pair.handshake().client
        return (result, pair.client.onQueue { $0.presentedKey })
    }

    @Test(
        "the key is proof enough: no authority, no name and no date is asked for",
        arguments: [
            { _ in }, { $0.notAfter = -60 }, { $0.notBefore = 3_600 }, { $0.alternativeNames = nil },
            { $0.alternativeNames = DER.sequence([DER.dns("other.example.org")]) }, { $0.isAuthority = true },
        ] as [@Sendable (inout TestCertificateRequest) -> Void])
    func enough(_ change: @Sendable (inout TestCertificateRequest) -> Void) async throws {
        var request = TestCertificateRequest(
            commonName: "self", alternativeNames: DER.sequence([DER.dns("im.example.com")]))
        change(&request)
        let leaf = try TestAuthority(request)
        let key = try fingerprint(leaf.key)
        let other = [UInt8](repeating: 7, count: 32)
        let properties = try await handshake([leaf], trusting: .keys([other, key])).result.get()
        #expect(properties.proof == .pinnedKey && properties.matchedName == nil)
        #expect(properties.certificates.map(\.keyFingerprint) == [key])
        #expect(properties.identity == Self.identity)
    }

    @Test("another key is refused, whoever vouches for it, and the reason names both", arguments: [true, false])
    func refused(hasOther: Bool) async throws {
        let root = try TestAuthority.root()
        let request = TestCertificateRequest(alternativeNames: DER.sequence([DER.dns("im.example.com")]))
        let leaf = try TestAuthority(request, issuer: root)
        let key = try fingerprint(leaf.key)
        // Where the authority's key is the one that is named, the server's own is still another.
        let pins: Set<[UInt8]> = hasOther ? [try fingerprint(root.key)] : []
        let (result, presented) = try await handshake([leaf, root], trusting: .keys(pins))
        guard case .failure(let error) = result else {
            Issue.record("accepted")
            return
        }
        #expect(error == .keyNotPinned(presented: key, pinned: pins) && error.concernsCertificate)
        #expect(error.description.contains(key.hexadecimal) && presented == key)
        #expect(error.description.hasSuffix(pins.first.map { "only \($0.hexadecimal)" } ?? "none"))
    }

    @Test("which key was shown is known too where authorities are asked, accepted or not", arguments: [true, false])
    func shown(isTrusted: Bool) async throws {
        let root = try TestAuthority.root()
        let request = TestCertificateRequest(alternativeNames: DER.sequence([DER.dns("im.example.com")]))
        let leaf = try TestAuthority(request, issuer: root)
        let anchor = isTrusted ? root : try .root("Unrelated")
        let (result, presented) = try await handshake([leaf], trusting: .pem(anchor.pem))
        #expect(presented == (try fingerprint(leaf.key)))
        #expect((try? result.get())?.proof == (isTrusted ? .authority : nil))
    }
}
