// SPDX-License-Identifier: Apache-2.0

import COpenSSL
import Testing

@testable import XMPPTransport

/// A client's and a server's engine, joined by hand.
private final class EnginePair {
    static let domain = "im.example.com"

    let client: TLSEngine
    let server: TLSEngine
    /// Bytes handed over at once.
    var chunk = Int.max

    init(settings: TLSSettings = TLSSettings(), offersProtocol: Bool = true, configure: (TLSContext) -> Void = { _ in })
        throws
    {
        let root = try TestAuthority.root()
        let leaf = try TestAuthority(
            TestCertificateRequest(alternativeNames: DER.sequence([DER.dns(Self.domain)])), issuer: root)
        let context = try TLSContext.server(
            certificate: .bytes(leaf.pem), privateKey: .bytes(leaf.key.pem), settings: settings)
        configure(context)
        client = try TLSEngine(
            .client(trust: .pem(root.pem)),
            role: .client(ReferenceIdentity(domain: Self.domain), offersProtocol: offersProtocol))
        server = try TLSEngine(context, role: .server)
    }

    /// Carries everything from one to the other; calls `step` after each piece.
    private func carry(_ from: TLSEngine, _ to: TLSEngine, step: () throws -> Void) rethrows -> Bool {
        let bytes = from.takeOutput()
        for start in stride(from: 0, to: bytes.count, by: min(chunk, max(1, bytes.count))) {
            to.feed(bytes[start..<min(bytes.count, start + min(chunk, bytes.count))])
            try step()
        }
        return !bytes.isEmpty
    }

    func handshake() throws {
        var isClientDone = try client.advanceHandshake() == .done
        var isServerDone = false
        var isBusy = true
        while isBusy {
            isBusy = try carry(client, server) {
                if !isServerDone { isServerDone = try server.advanceHandshake() == .done }
            }
            let answered = try carry(server, client) {
                if !isClientDone { isClientDone = try client.advanceHandshake() == .done }
            }
            isBusy = isBusy || answered
        }
        #expect(isClientDone && isServerDone)
    }

    /// What one side reads after the other's output is carried over.
    func read(by reader: TLSEngine) throws -> (bytes: [UInt8], hasEnded: Bool) {
        var result: [UInt8] = []
        var hasEnded = false
        let other = reader === client ? server : client
        _ = try carry(other, reader) {
            reading: while true {
                switch try reader.read() {
                case .plaintext(let bytes): result += bytes
                case .needsInput: break reading
                case .ended:
                    hasEnded = true
                    break reading
                }
            }
        }
        return (result, hasEnded)
    }
}

@Suite struct TLSEngineTests {
    @Test("bytes survive however the ciphertext is cut", arguments: [1, 2, 3, 7, 64, 1500, Int.max])
    func chunks(size: Int) throws {
        let pair = try EnginePair()
        pair.chunk = size
        try pair.handshake()
        let bytes = (0..<40_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        try pair.server.write(bytes[...])
        pair.server.sayGoodbye()
        let result = try pair.read(by: pair.client)
        #expect(result.bytes == bytes)
        #expect(result.hasEnded)
    }

    private static func version(_ version: TLSSettings.Version) -> TLSSettings {
        var settings = TLSSettings()
        settings.maximumVersion = version
        return settings
    }

    @Test(
        "both sides know the same channel bindings (RFC 9266, RFC 5929 §4)",
        arguments: [TLSSettings.Version.tls12, .tls13])
    func channelBindings(version: TLSSettings.Version) throws {
        let pair = try EnginePair(settings: Self.version(version))
        try pair.handshake()
        let client = pair.client.properties()
        let server = pair.server.properties()
        #expect(client.version == (version == .tls12 ? "TLSv1.2" : "TLSv1.3"))
        #expect(client.exporterBinding?.count == 32)
        #expect(client.exporterBinding == server.exporterBinding)
        #expect(client.serverEndPointBinding?.count == 32)
        #expect(client.serverEndPointBinding == server.serverEndPointBinding)
        // The leaf is signed with SHA-256, so the binding is its plain fingerprint.
        #expect(client.serverEndPointBinding == client.certificates.first?.fingerprint)
        #expect(client.applicationProtocol == "xmpp-client")
        #expect(client.certificates.count == 2)
        #expect(client.identity?.domain == EnginePair.domain)
        #expect(!client.isResumed)
    }

    @Test("a channel of TLS 1.2 that could be another's has no exporter to bind to (RFC 9266 §4.2)")
    func exporterOfOldTLS() throws {
        let pair = try EnginePair(settings: Self.version(.tls12)) { context in
            // SSL_OP_NO_EXTENDED_MASTER_SECRET, a macro that Swift does not import.
            _ = SSL_CTX_set_options(context.handle, 1)
        }
        try pair.handshake()
        #expect(pair.client.properties().exporterBinding == nil)
        #expect(pair.client.properties().serverEndPointBinding?.count == 32)
    }

    @Test("the server is told the JID's domain, and an address is never a server name (RFC 6066 §3)")
    func serverName() throws {
        let pair = try EnginePair()
        try pair.handshake()
        #expect(
            SSL_get_servername(pair.server.ssl, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) }
                == EnginePair.domain)
        #expect(ReferenceIdentity(domain: "192.0.2.1").serverName == nil)
        #expect(ReferenceIdentity(domain: "[2001:db8::1]").serverName == nil)
        #expect(ReferenceIdentity(domain: "localhost").serverName == "localhost")
    }

    @Test("a server that chooses another application protocol is refused (XEP-0368 §3)")
    func wrongProtocol() throws {
        let pair = try EnginePair(offersProtocol: true) { context in
            SSL_CTX_set_alpn_select_cb(
                context.handle,
                { _, chosen, length, offered, _, _ in
                    // Seven bytes from the middle of what was offered: "mpp-cli".
                    chosen?.pointee = offered.map { $0 + 2 }
                    length?.pointee = 7
                    return SSL_TLSEXT_ERR_OK
                }, nil)
        }
        // Newer releases of OpenSSL 3.0 refuse this themselves, as a bad extension.
        #expect(throws: TLSError.self) { try pair.handshake() }
    }

    @Test("no application protocol is offered after STARTTLS")
    func noProtocol() throws {
        let pair = try EnginePair(offersProtocol: false)
        try pair.handshake()
        #expect(pair.client.properties().applicationProtocol == nil)
    }

    @Test("a request to negotiate again is refused and ends the channel (RFC 6120 §5.3.5)")
    func renegotiation() throws {
        let pair = try EnginePair(settings: Self.version(.tls12))
        try pair.handshake()
        _ = SSL_clear_options(pair.server.ssl, shim_SSL_OP_NO_RENEGOTIATION())
        #expect(SSL_renegotiate(pair.server.ssl) == 1)
        _ = SSL_do_handshake(pair.server.ssl)
        #expect(throws: TLSError.renegotiationRefused) { _ = try pair.read(by: pair.client) }
    }

    @Test("a damaged record breaks the channel", arguments: [TLSSettings.Version.tls12, .tls13])
    func damage(version: TLSSettings.Version) throws {
        let pair = try EnginePair(settings: Self.version(version))
        try pair.handshake()
        try pair.server.write([1, 2, 3])
        var bytes = pair.server.takeOutput()
        bytes[bytes.count - 1] ^= 1
        pair.client.feed(bytes[...])
        #expect(throws: TLSError.self) { _ = try pair.client.read() }
    }

    @Test(
        "what is not TLS is called that",
        arguments: ["HTTP/1.1 400 Bad Request\r\n\r\n", "<?xml version='1.0'?><stream:stream>", "SSH-2.0-x\r\n"])
    func notTLS(answer: String) throws {
        let pair = try EnginePair()
        #expect(try pair.client.advanceHandshake() == .needsInput)
        pair.client.feed(Array(answer.utf8)[...])
        #expect(throws: TLSError.notTLS) { try pair.client.advanceHandshake() }
    }

    @Test("random bytes never trap")
    func noise() throws {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<100 {
            let pair = try EnginePair()
            _ = try pair.client.advanceHandshake()
            pair.client.feed((0..<200).map { _ in UInt8.random(in: 0...255, using: &generator) }[...])
            _ = try? pair.client.advanceHandshake()
        }
    }

    @Test("unusable files are named")
    func badFiles() throws {
        let error = #expect(throws: TLSError.self) { try TLSContext.client(trust: .file("/nonexistent/ca.pem")) }
        #expect(error?.description.contains("/nonexistent/ca.pem") == true)
        #expect(throws: TLSError.self) { try TLSContext.client(trust: .pem(Array("nothing".utf8))) }
        let one = try TestAuthority.root()
        let other = try TestAuthority.root()
        #expect(throws: TLSError.self) {
            try TLSContext.server(certificate: .bytes(one.pem), privateKey: .bytes(other.key.pem))
        }
        #expect(throws: TLSError.self) {
            try TLSContext.server(certificate: .bytes(one.pem), privateKey: .bytes([]))
        }
    }

    @Test("the system's authorities load")
    func systemTrust() throws {
        #expect(throws: Never.self) { try TLSContext.client() }
    }
}
