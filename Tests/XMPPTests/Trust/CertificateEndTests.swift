// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore
import XMPPTestSupport

@testable import XMPP

@Suite("A certificate that ends before the stream does (RFC 6120 §13.7.2.3)", .timeLimit(.minutes(2)))
struct CertificateEndTests {
    @Test("ends it with `reset`, not a moment sooner, and the client comes back to see the new one")
    func reset() async throws {
        let server = try await verona()
        let client = XMPPClient(
            try await server.configuration(for: "romeo", resource: "orchard"),
            reconnect: ReconnectPolicy(
                firstDelay: .zero, baseDelay: .zero, minimumDelay: .zero, resumptionDelay: .zero))
        try await client.start()
        let stream = try #require(await client.stream)
        let security = try #require(await stream.security)
        let end = try #require(await stream.certificateEnd)
        #expect(end == security.certificates.compactMap { DateTime($0.notAfter) }.min())
        #expect(await stream.timers[.certificate] != nil)
        await stream.certificateDue(at: end)
        #expect(await stream.isEstablished)
        let events = client.events
        await stream.certificateDue(at: DateTime(millisecondsSinceEpoch: end.millisecondsSinceEpoch + 1))
        #expect(await !stream.isEstablished)
        let error = try await server.firstElement(from: "romeo") { $0.localName == "error" }
        #expect(StreamError(error).condition == .reset)
        for try await event in events {
            if case .authenticated = event { break }
        }
        #expect(await server.received(from: "romeo").count { $0.localName == "error" } == 1)
        await client.stop()
        await server.stop()
    }

    @Test(
        "ends one on which somebody registers, at the moment and not before: no password goes to who is proven no longer"
    )
    func registration() async throws {
        let server = try await verona {
            var form = RegistrationForm()
            form.oldFields = [.init("username"), .init("password")]
            $0.registration = form
        }
        var configuration = await server.visitorConfiguration
        configuration.isForRegistration = true
        configuration.anticipatesFeatures = false
        let stream = XMPPStream(configuration)
        try await stream.connect()
        let end = try #require(await stream.certificateEnd)
        #expect(await stream.timers[.certificate] != nil)
        await stream.certificateDue(at: end)
        #expect(await stream.isRegistering)
        await stream.certificateDue(at: DateTime(millisecondsSinceEpoch: end.millisecondsSinceEpoch + 1))
        #expect(await !stream.isRegistering)
        let error = await #expect(throws: XMPPError.self) {
            try await stream.requestBeforeLogin(IQ(.get, payload: Element(RegistrationForm.elementName)))
        }
        #expect(error?.code == .connectionLost && error?.message.contains("certificate") == true, "\(error as Any)")
        let sent = try await server.firstRecord { $0.direction == .fromClient && $0.element.localName == "error" }
        #expect(StreamError(sent.element).condition == .reset)
        #expect(await !server.transcript.contains { $0.direction == .fromClient && $0.element.localName == "iq" })
        await server.stop()
    }

    @Test("and ends nothing where a key that the account names is the proof, or there is no certificate")
    func otherProofs() async throws {
        let server = try await verona()
        let (first, _) = try await romeo(server)
        let key = try #require(await first.security?.keyFingerprint)
        await first.disconnect()
        let (pinned, _) = try await romeo(server) { $0.trust = .keys([key]) }
        #expect(await pinned.certificateEnd == nil)
        #expect(await pinned.timers[.certificate] == nil)
        await pinned.certificateDue(at: DateTime(millisecondsSinceEpoch: .max / 2))
        #expect(await pinned.isEstablished)
        await pinned.disconnect()
        await server.stop()
    }
}
