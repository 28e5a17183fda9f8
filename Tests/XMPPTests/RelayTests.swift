// SPDX-License-Identifier: Apache-2.0

import SocketIO
import Testing
import XMPPTestSupport
import XMPPTransport

@testable import XMPP

@Suite("Somebody in between who has a certificate that is valid (RFC 5802 §6, XEP-0440)", .timeLimit(.minutes(5)))
struct RelayTests {
    /// Logs in over a relay, after one login that was as it should be where `isKnown`.
    private func relayed(
        isKnown: Bool, _ options: LoopbackOptions = .modern, replacing: [(String, String)] = [],
        tls version: TLSSettings.Version? = nil
    ) async throws -> (error: XMPPError?, server: LoopbackServer) {
        let server = try await verona { $0 = options }
        var configuration = try await server.configuration(for: "romeo", directTLS: true)
        configuration.usesTokens = false
        if isKnown {
            let stream = XMPPStream(configuration)
            try await stream.connect()
            await stream.disconnect()
        }
        let relay = try await Relay(
            to: try #require(server.directTLSPort), of: "example.net", by: server.authority,
            trusting: server.certificateAuthorityFile, replacing: replacing, tls: version)
        configuration.port = relay.port
        let stream = XMPPStream(configuration)
        var failure: XMPPError?
        do {
            try await stream.connect()
        } catch {
            failure = error
        }
        await stream.disconnect()
        relay.end()
        return (failure, server)
    }

    @Test("the login fails, and the reason names channel binding")
    func relay() async throws {
        let (error, server) = try await relayed(isKnown: false)
        #expect(error?.code == .authenticationRefused)
        #expect(error?.mechanism == "SCRAM-SHA-512-PLUS")
        #expect(error?.message.contains("channel binding") == true)
        await server.stop()
    }

    @Test("who takes the bound mechanisms off the list is found out by the server (RFC 5802 §6)")
    func stripped() async throws {
        let cut = ["512", "256", "1"].map { ("<mechanism>SCRAM-SHA-\($0)-PLUS</mechanism>", "") }
        let list =
            "<sasl-channel-binding xmlns='urn:xmpp:sasl-cb:0'><channel-binding type='tls-exporter'/>"
            + "<channel-binding type='tls-server-end-point'/></sasl-channel-binding>"
        let (error, server) = try await relayed(isKnown: false, replacing: cut + cut + [(list, "")])
        #expect(error?.code == .authenticationRefused)
        #expect(error?.mechanism == "SCRAM-SHA-512")
        await server.stop()
    }

    @Test("who speaks another version of TLS with the server is found out, bound or not (XEP-0515)")
    func otherVersion() async throws {
        for mechanisms in [LoopbackOptions.modern.mechanisms, ["SCRAM-SHA-512"]] {
            var options = LoopbackOptions.modern
            options.mechanisms = mechanisms
            let (error, server) = try await relayed(isKnown: false, options, tls: .tls12)
            #expect(error?.code == .serverNotAuthenticated)
            #expect(error?.message.contains("another version") == true, "\(error?.message ?? "")")
            let answers = await server.transcript.filter { $0.element.localName == "response" }
            #expect(answers.isEmpty, "no proof is sent")
            await server.stop()
        }
    }

    @Test("and by the client, where the account has been bound before: nothing of the login is sent")
    func strippedLater() async throws {
        let cut = ["512", "256", "1"].map { ("<mechanism>SCRAM-SHA-\($0)-PLUS</mechanism>", "") }
        let list =
            "<sasl-channel-binding xmlns='urn:xmpp:sasl-cb:0'><channel-binding type='tls-exporter'/>"
            + "<channel-binding type='tls-server-end-point'/></sasl-channel-binding>"
        let (error, server) = try await relayed(isKnown: true, replacing: cut + cut + [(list, "")])
        #expect(error?.code == .channelBindingFailed)
        #expect(error?.message.contains("not bound to the TLS channel") == true)
        await server.stop()
    }

    @Test(
        "an offer of channel binding that contradicts itself is refused as that, and nothing is sent (XEP-0440)",
        arguments: [true, false])
    func contradicting(cutsList: Bool) async throws {
        let kinds = ["tls-exporter", "tls-server-end-point"].map {
            ("<channel-binding type='\($0)'/>", cutsList ? "" : "<channel-binding type='x-\($0)'/>")
        }
        let (error, server) = try await relayed(isKnown: false, replacing: kinds)
        #expect(error?.code == .channelBindingFailed, "\(error?.message ?? "")")
        #expect(error?.message.contains("channel binding") == true)
        let sent = await server.transcript.filter { ["auth", "authenticate"].contains($0.element.localName) }
        #expect(sent.isEmpty)
        await server.stop()
    }
}

@Suite("Somebody in between at a real server", .timeLimit(.minutes(3)))
struct RealRelayTests {
    @Test(
        "the login fails though the certificate is valid, and the reason names channel binding (RFC 9266, RFC 5929)",
        arguments: ServerKind.newer.filter(\.isExpected))
    func relay(kind: ServerKind) async throws {
        let server = try await kind.start(accounts: ["romeo": "orchard"])
        var configuration = try server.configuration(for: "romeo", directTLS: true)
        configuration.usesTokens = false
        let straight = XMPPStream(configuration)
        try await straight.connect()
        #expect(await straight.channelBinding == "tls-exporter")
        await straight.disconnect()
        for isKnown in [true, false] {
            let relay = try await Relay(
                to: server.directTLSPort, of: "example.org", by: server.authority,
                trusting: server.certificateAuthorityFile)
            configuration.port = relay.port
            if !isKnown { configuration.loginMemory = InMemoryLoginMemoryStore() }
            let stream = XMPPStream(configuration)
            let error = await #expect(throws: XMPPError.self) { try await stream.connect() }
            #expect(error?.code == .authenticationRefused, "\(error as Any)")
            #expect(error?.message.contains("channel binding") == true, "\(error as Any)")
            await stream.disconnect()
            relay.end()
        }
        await server.stop()
    }
}

/// A relay with a certificate for the domain from the authority that everybody trusts: TLS ends here, and begins anew
/// towards the server.
private final class Relay: Sendable {
    let port: UInt16
    private let executor = StreamExecutor(label: "test.relay")
    private let listener: ListeningSocket

    /// - Parameters:
    ///   - port: Where the server has direct TLS.
    ///   - domain: Its domain.
    ///   - authority: Who issues the relay's certificate.
    ///   - anchors: Whom the relay trusts.
    ///   - changes: Texts of the server, and what the client gets in their place.
    ///   - version: The newest version of TLS that it speaks with the server.
    init(
        to port: UInt16, of domain: String, by authority: TestAuthority, trusting anchors: String,
        replacing changes: [(String, String)] = [], tls version: TLSSettings.Version? = nil
    ) async throws {
        let certificate = try authority.issue(for: domain)
        let ours = try TLSContext.server(
            certificate: .bytes(certificate.certificate), privateKey: .bytes(certificate.privateKey))
        var settings = TLSSettings()
        settings.maximumVersion = version
        let theirs = try TLSContext.client(trust: .file(anchors), settings: settings)
        let address = SocketAddress.loopback(port: port)
        listener = try ListeningSocket(.loopback(port: 0), on: executor)
        self.port = listener.address.port ?? 0
        let executor = executor
        executor.run { [listener] in
            listener.start { socket in
                guard let client = try? TLSTransport(over: socket, context: ours, role: .server, mode: .direct) else {
                    return
                }
                Task {
                    let socket = try await SocketTransport.connect(to: address, on: executor, timeout: .seconds(5))
                    executor.run {
                        let identity = ReferenceIdentity(domain: domain)
                        guard
                            let upstream = try? TLSTransport(
                                over: socket, context: theirs,
                                role: .client(identity, offersProtocol: true), mode: .direct)
                        else { return }
                        Self.join(client, upstream, changes)
                    }
                }
            }
        }
    }

    /// Passes on what either side says.
    private static func join(_ client: TLSTransport, _ server: TLSTransport, _ changes: [(String, String)]) {
        client.handshake { result in
            guard case .success = result else { return server.abort() }
            server.handshake { result in
                guard case .success = result else { return client.abort() }
                client.start { event in pass(event, to: server, []) }
                server.start { event in pass(event, to: client, changes) }
            }
        }
    }

    private static func pass(_ event: TransportEvent, to other: TLSTransport, _ changes: [(String, String)]) {
        switch event {
        case .received(let bytes):
            var text = String(decoding: bytes, as: UTF8.self)
            for (from, to) in changes { text = text.replacing(from, with: to) }
            other.send(Array(text.utf8))
        case .endOfInput, .closed: other.close()
        case .drained: break
        }
    }

    func end() {
        executor.run { [listener] in listener.close() }
    }
}
