// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPP
import XMPPTestSupport

@Suite("What goes wrong says so, and nothing secret is sent before it may be")
struct StreamFailureTests {
    /// The error that connecting ends with, and what the client sent of SASL.
    private func failure(
        _ server: LoopbackServer, password: String? = nil, directTLS: Bool = false,
        _ change: (inout XMPPConfiguration) -> Void = { _ in }
    ) async throws -> (XMPPError?, saslElements: Int) {
        var configuration = try await server.configuration(for: "romeo", password: password, directTLS: directTLS)
        change(&configuration)
        let stream = XMPPStream(configuration)
        let error = await #expect(throws: XMPPError.self) { try await stream.connect() }
        let sasl = await server.transcript.filter {
            $0.direction == .fromClient && $0.element.namespace == Namespace.sasl
        }
        await server.stop()
        return (error, sasl.count)
    }

    @Test("a wrong password is refused once, and the mechanism is named", arguments: ["PLAIN", "SCRAM-SHA-256"])
    func wrongPassword(mechanism: String) async throws {
        let server = try await verona { $0.mechanisms = [mechanism] }
        let (error, _) = try await failure(server, password: "wrong")
        #expect(error?.code == .authenticationRefused)
        #expect(error?.mechanism == mechanism)
        #expect(error?.message.contains(mechanism) == true)
        #expect(error?.isPermanent == true)
    }

    @Test("a certificate that proves nothing is refused before a byte of SASL is sent", arguments: [false, true])
    func certificates(directTLS: Bool) async throws {
        for flaw in TestCertificate.Flaw.allCases {
            let server = try await verona { $0.certificateFlaw = flaw }
            let (error, sasl) = try await failure(server, directTLS: directTLS)
            #expect(error?.code == .certificateRejected, "\(flaw): \(error?.message ?? "")")
            #expect(sasl == 0)
        }
    }

    @Test("a certificate for somebody else names both", arguments: [false, true])
    func wrongName(directTLS: Bool) async throws {
        let server = try await verona { $0.certificateNames = [.dns("evil.example")] }
        let (error, sasl) = try await failure(server, directTLS: directTLS)
        #expect(error?.code == .certificateRejected)
        #expect(error?.message.contains("example.net") == true && error?.message.contains("evil.example") == true)
        #expect(sasl == 0)
    }

    @Test("an authority that is not trusted is refused")
    func untrusted() async throws {
        let server = try await verona()
        let (error, sasl) = try await failure(server) { $0.certificateAuthorityFile = nil }
        #expect(error?.code == .certificateRejected)
        #expect(sasl == 0)
    }

    @Test("a server without TLS is refused; loopback alone is no permission (RFC 6120 §13.8)")
    func noTLS() async throws {
        let server = try await verona {
            $0.offersStartTLS = false
            $0.allowsPlaintext = true
        }
        let (error, sasl) = try await failure(server)
        #expect(error?.code == .tlsUnavailable)
        #expect(sasl == 0)
    }

    @Test("the clear is used on loopback when that is permitted")
    func permittedPlaintext() async throws {
        let server = try await verona {
            $0.offersStartTLS = false
            $0.allowsPlaintext = true
        }
        let (stream, _) = try await romeo(server) { $0.securityPolicy = .plaintextOnLoopback }
        #expect(await stream.security == nil)
        await stream.disconnect()
        await server.stop()
    }

    @Test("mechanisms that may not be used are named with the reasons")
    func noMechanism() async throws {
        let server = try await verona { $0.mechanisms = ["DIGEST-MD5", "PLAIN"] }
        let (error, sasl) = try await failure(server) { $0.hasUsedSCRAM = true }
        #expect(error?.code == .noMechanism)
        #expect(error?.message.contains("DIGEST-MD5") == true && error?.message.contains("PLAIN") == true)
        #expect(sasl == 0)
    }

    @Test("a server that cannot check now is no refusal (RFC 6120 §6.5.12)")
    func temporary() async throws {
        let server = try await verona { $0.authenticationFailure = .temporaryAuthFailure }
        let (error, _) = try await failure(server)
        #expect(error?.code == .authenticationDeferred)
        #expect(error?.isPermanent == false)
    }

    @Test("nothing that listens, and no such host")
    func nobodyThere() async throws {
        var configuration = XMPPConfiguration(jid: try JID("romeo@example.net"), password: "secret")
        configuration.host = "127.0.0.1"
        configuration.port = 1
        let refused = await #expect(throws: XMPPError.self) { try await XMPPStream(configuration).connect() }
        #expect(refused?.code == .connectionFailed)
        #expect(refused?.message.contains("127.0.0.1:1") == true)
        configuration.host = "no-such-host.invalid"
        let unknown = await #expect(throws: XMPPError.self) { try await XMPPStream(configuration).connect() }
        #expect(unknown?.code == .hostNotFound)
    }

    @Test(
        "a connection that ends at any point ends the attempt with an error",
        arguments: stride(from: 0, to: 2_600, by: 97).map { $0 })
    func cut(bytes: Int) async throws {
        let server = try await verona()
        await server.planNextConnection([.cut(afterBytes: bytes)])
        let stream = XMPPStream(try await server.configuration(for: "romeo"))
        let error = await #expect(throws: XMPPError.self) {
            try await stream.connect()
            try await stream.goOnline()
            for _ in 0..<20 { try await stream.ping() }
        }
        #expect(error != nil && error?.code != .timedOut)
        await stream.disconnect()
        await server.stop()
    }

    @Test("the server may slice its bytes as it likes", arguments: [1, 2, 3, 7, 64])
    func slices(size: Int) async throws {
        let server = try await verona()
        await server.planNextConnection([.slice(bytes: size)])
        let (stream, recorder) = try await romeo(server)
        try await stream.goOnline()
        await recorder.heard("online Juliet")
        await stream.disconnect()
        await server.stop()
    }

    @Test("a stream error is told, and `conflict` is for good (RFC 6120 §4.9.3.3)")
    func streamError() async throws {
        let server = try await verona()
        let (stream, recorder) = try await romeo(server)
        await server.endStreams(of: "romeo", with: StreamError(.conflict, text: "replaced"))
        await recorder.heard("disconnected streamError")
        let error = await #expect(throws: XMPPError.self) { try await stream.ping() }
        #expect(error?.streamError?.condition == .conflict)
        #expect(error?.isPermanent == true)
        await server.stop()
    }

    @Test(
        "what breaks the protocol ends the stream and is named",
        arguments: ["<!-- x -->", "<message></presence>", "\u{fffe}<a/>"])
    func violation(xml: String) async throws {
        let server = try await verona()
        let (stream, recorder) = try await romeo(server)
        await server.inject(xml, into: "romeo")
        await recorder.heard("disconnected protocolViolation")
        await stream.disconnect()
        await server.stop()
    }
}
