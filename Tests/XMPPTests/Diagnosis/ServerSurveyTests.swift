// SPDX-License-Identifier: Apache-2.0

import Dispatch
import SocketIO
import Testing
import XMPPTestSupport
import XMPPTransport

@testable import XMPP

@Suite("What a domain's service looks like from here", .timeLimit(.minutes(5)))
struct ServerSurveyTests {
    /// A domain without an account, or romeo's, that name servers lead to these ports.
    private func configuration(
        _ server: LoopbackServer, _ zone: SurveyZone, isAccount: Bool = false
    ) async throws -> XMPPConfiguration {
        var configuration = try await server.configuration(for: "romeo")
        if !isAccount { configuration.jid = configuration.jid.domain }
        configuration.host = nil
        configuration.port = nil
        configuration.asksWebForPlaces = false
        configuration.connector = zone.connector
        return configuration
    }

    @Test("every place is looked at, as far as its features; nobody logs in, not even where no account is needed")
    func healthy() async throws {
        let server = try await verona { $0.mechanisms = ["SCRAM-SHA-256", "PLAIN", "ANONYMOUS"] }
        let direct = try #require(server.directTLSPort)
        let zone = SurveyZone.naming(startTLS: [server.port], directTLS: [direct])
        for isAccount in [false, true] {
            let survey = await ServerSurvey.take(of: try await configuration(server, zone, isAccount: isAccount))
            #expect(survey.domain == "example.net" && survey.isUsable && survey.error == nil)
            #expect(Set(survey.endpoints.map(\.place.way)) == [.startTLS, .directTLS])
            for endpoint in survey.endpoints {
                #expect(endpoint.isUsable && endpoint.error == nil, "\(endpoint.error as Any)")
                #expect(endpoint.place.endpoint.hasPrefix("xmpp.example.net:"))
                #expect(endpoint.address?.hasPrefix("127.0.0.1:") == true)
                #expect(endpoint.connectionTime != nil && endpoint.securingTime != nil && endpoint.featuresTime != nil)
                #expect(endpoint.security?.version == "TLSv1.3" && endpoint.security?.matchedName == "example.net")
                let protocolName = endpoint.place.way == .directTLS ? "xmpp-client" : nil
                #expect(endpoint.security?.applicationProtocol == protocolName)
                #expect(endpoint.proofs == [SurveyedEndpoint.Proof(kind: .authority, refusal: nil)])
                #expect(endpoint.certificates.map(\.subject).first == "CN=swift-xmpp test server")
                #expect(
                    endpoint.certificates.count == 2 && endpoint.certificates.allSatisfy { $0.keyFingerprint != nil })
                #expect(endpoint.certificates.first?.names.contains("example.net") == true)
                #expect(endpoint.certificates.allSatisfy { $0.notBefore < $0.notAfter })
                #expect(endpoint.mechanisms == ["SCRAM-SHA-256", "PLAIN", "ANONYMOUS"])
            }
        }
        let sent = await server.transcript.filter { $0.direction == .fromClient }.map(\.element.localName)
        #expect(Set(sent).isSubset(of: ["starttls", "stream"]), "\(sent)")
        await server.stop()
    }

    @Test(
        "what name servers say is told with what DNSSEC says of it, and what they do not have as absent (RFC 4035 §4.3)"
    )
    func names() async throws {
        let server = try await verona()
        var zone = SurveyZone.naming(startTLS: [server.port])
        zone.services["_xmpps-client._tcp.example.net"] = .bogus("a signature has expired")
        zone.keys["_\(server.port)._tcp.xmpp.example.net"] = .insecure([
            TLSARecord(usage: 3, selector: 1, matchingType: 1, data: [0xAB, 0xCD])
        ])
        let survey = await ServerSurvey.take(of: try await configuration(server, zone))
        let answers = try #require(survey.names?.answers)
        func find(_ name: String, _ type: NameReport.Answer.RecordType) -> NameReport.Answer? {
            answers.first { $0.name == name && $0.type == type }
        }
        let direct = find("_xmpps-client._tcp.example.net", .service)
        #expect(
            direct?.validation == .bogus && direct?.reason == "a signature has expired" && direct?.isAbsent == false)
        let plain = find("_xmpp-client._tcp.example.net", .service)
        #expect(plain?.validation == .secure && plain?.records == ["0 5 \(server.port) xmpp.example.net."])
        #expect(find("xmpp.example.net", .ipv4)?.records == ["127.0.0.1"])
        #expect(find("xmpp.example.net", .ipv6)?.isAbsent == true)
        let key = find("_\(server.port)._tcp.xmpp.example.net", .key)
        #expect(key?.validation == .insecure && key?.records == ["3 1 1 abcd"])
        #expect(survey.isUsable, "a wrong signature locks out those alone who insist on signatures")
        let advice = survey.advice()
        #expect(advice.first?.severity == .fault && advice.first?.problem.contains("a signature has expired") == true)
        #expect(advice.contains { $0.severity == .warning && $0.problem.contains("not signed") })
        #expect(advice.contains { $0.severity == .warning && $0.problem.contains("private network") })
        await server.stop()
    }

    @Test(
        "a certificate that is refused is shown, with what is wrong and what to do (RFC 6120 §13.7.2)",
        arguments: [
            (.expired, .expired, "renew"), (.notYetValid, .notYetValid, "clocks"), (.selfSigned, .selfSigned, "--pin"),
            (.wrongName, .name, "made out to the domain"), (.unknownAuthority, .issuer, "authority"),
            (.missingServerPurpose, .other, "for a server"),
        ] as [(TestCertificate.Flaw, XMPPError.CertificateFault, String)])
    func refused(flaw: TestCertificate.Flaw, fault: XMPPError.CertificateFault, words: String) async throws {
        let server = try await verona { $0.certificateFlaw = flaw }
        let zone = SurveyZone.naming(startTLS: [server.port])
        let survey = await ServerSurvey.take(of: try await configuration(server, zone))
        let endpoint = try #require(survey.endpoints.first)
        #expect(!survey.isUsable && endpoint.error?.code == .certificateRejected)
        #expect(endpoint.error?.certificateFault == fault && endpoint.security == nil && endpoint.features == nil)
        #expect(endpoint.connectionTime != nil && endpoint.securingTime == nil)
        #expect(endpoint.proofs.map(\.kind) == [.authority] && endpoint.proofs.first?.refusal == endpoint.error)
        let own = try #require(endpoint.certificates.first)
        #expect(own.subject == "CN=swift-xmpp test server" && own.keyFingerprint == endpoint.error?.presentedKey)
        let advice = try #require(survey.advice().first { $0.severity == .fault })
        #expect(advice.remedy.contains(words), "\(advice)")
        await server.stop()
    }

    @Test("of several places only one of which is alive each is told, and the others do not delay it")
    func oneAlive() async throws {
        let server = try await verona()
        let plain = try await verona { $0.offersStartTLS = false }
        var zone = SurveyZone.naming(startTLS: [1, plain.port, server.port])
        zone.services["_xmpps-client._tcp.example.net"] = .secure([
            SRVRecord(priority: 9, weight: 0, port: server.port, target: "xmpp.example.net"),
            SRVRecord(priority: 10, weight: 0, port: 5223, target: "nowhere.example.net"),
        ])
        let survey = await ServerSurvey.take(of: try await configuration(server, zone))
        let codes = survey.endpoints.map { $0.error?.code }
        #expect(codes == [.connectionFailed, .tlsUnavailable, nil, .tlsFailed, .hostNotFound])
        #expect(survey.isUsable && survey.endpoints.last?.address == nil)
        let remedies = survey.advice().filter { $0.severity == .fault }.map(\.remedy)
        for words in ["open the port", "STARTTLS", "kind of TLS", "an address"] {
            #expect(remedies.contains { $0.contains(words) }, "\(words) in \(remedies)")
        }
        await server.stop()
        await plain.stop()
    }

    @Test("of several addresses of one host each is looked at by itself: a silent one is not told as the next one")
    func eachAddress() async throws {
        let server = try await verona()
        let silent = try #require(SocketAddress(literal: "127.0.0.2", port: server.port))
        let executor = StreamExecutor()
        let listener = try ListeningSocket(silent, on: executor)
        executor.queue.sync { listener.start { $0.close() } }
        var zone = SurveyZone.naming(startTLS: [server.port])
        zone.hosts["xmpp.example.net"] = [silent, .loopback(port: 0)]
        let survey = await ServerSurvey.take(of: try await configuration(server, zone))
        #expect(survey.endpoints.map { $0.address } == [silent.description, "127.0.0.1:\(server.port)"])
        #expect(survey.endpoints.map { $0.error?.code } == [.connectionLost, nil])
        #expect(await server.acceptedConnections == 1)
        await server.stop()
        executor.queue.sync { listener.close() }
    }

    @Test("signed TLSA records are tried beside authorities: a key that they do not name is a fault (RFC 7673 §4)")
    func signedKeys() async throws {
        let server = try await verona()
        var zone = SurveyZone.naming(startTLS: [server.port])
        let before = await ServerSurvey.take(of: try await configuration(server, zone))
        let key = try #require(before.endpoints.first?.certificates.first?.keyFingerprint)
        for (data, isRight) in [(key.bytes, true), ([UInt8](repeating: 7, count: 32), false)] {
            zone.keys["_\(server.port)._tcp.xmpp.example.net"] = .secure([
                TLSARecord(usage: 3, selector: 1, matchingType: 1, data: data)
            ])
            var configuration = try await configuration(server, zone)
            let survey = await ServerSurvey.take(of: configuration)
            let endpoint = try #require(survey.endpoints.first)
            #expect(endpoint.proofs.map(\.kind) == [.authority, .dane] && endpoint.isUsable)
            #expect(endpoint.proofs.map { $0.refusal == nil } == [true, isRight])
            #expect(survey.advice().contains { $0.remedy.contains("TLSA") } != isRight)
            configuration.trust = .dane
            let strict = try #require(await ServerSurvey.take(of: configuration).endpoints.first)
            #expect(strict.isUsable == isRight && strict.error?.code == (isRight ? nil : .certificateRejected))
        }
        await server.stop()
    }

    @Test("a pinned key is the one proof, and another one is told as what it is")
    func pinned() async throws {
        let server = try await verona { $0.certificateFlaw = .selfSigned }
        var configuration = try await configuration(server, .naming(startTLS: [server.port]))
        configuration.trust = .keys([])
        let refused = try #require(await ServerSurvey.take(of: configuration).endpoints.first)
        #expect(refused.proofs.map(\.kind) == [.pinnedKey] && refused.error?.certificateFault == .key)
        configuration.trust = .keys([try #require(refused.error?.presentedKey)])
        let accepted = try #require(await ServerSurvey.take(of: configuration).endpoints.first)
        #expect(accepted.proofs == [SurveyedEndpoint.Proof(kind: .pinnedKey, refusal: nil)] && accepted.isUsable)
        await server.stop()
    }

    @Test("name servers that are silent, and a server that is, cost the time of the survey and no more")
    func silence() async throws {
        var zone = SurveyZone.naming(startTLS: [5222])
        zone.isSilent = true
        let server = try await verona()
        var silent = try await configuration(server, zone)
        let clock = TestClock()
        silent.clock = clock
        let task = Task { [silent] in await ServerSurvey.take(of: silent, within: .seconds(3)) }
        await clock.waitForTimers(1)
        await clock.advance(by: .seconds(3))
        let nothing = await task.value
        #expect(nothing.endpoints.isEmpty && nothing.error?.code == .timedOut && !nothing.isUsable)
        await server.planNextConnection([.stall(afterBytes: 0)], on: .wire)
        var stalled = try await configuration(server, .naming(startTLS: [server.port]))
        let other = TestClock()
        stalled.clock = other
        let second = Task { [stalled] in await ServerSurvey.take(of: stalled, within: .seconds(3)) }
        // That of the survey, and that of the negotiation.
        await other.waitForTimers(2)
        await other.advance(by: .seconds(3))
        let endpoint = try #require(await second.value.endpoints.first)
        #expect(endpoint.error?.code == .timedOut && endpoint.connectionTime != nil && endpoint.securingTime == nil)
        #expect(endpoint.error?.message.contains("no TLS") == true, "\(endpoint.error as Any)")
        await server.stop()
    }

    @Test("a name with more addresses than are looked at says how many were left out")
    func limits() async throws {
        var zone = SurveyZone.naming(startTLS: [1])
        let count = ServerSurvey.maximumEndpoints + 1
        zone.hosts["xmpp.example.net"] = (1...count).compactMap {
            SocketAddress(hostBytes: [127, 0, 1, UInt8($0)])
        }
        let server = try await verona()
        let survey = await ServerSurvey.take(of: try await configuration(server, zone))
        #expect(survey.endpoints.count == ServerSurvey.maximumEndpoints && survey.omittedEndpoints == 1)
        #expect(survey.endpoints.allSatisfy { $0.error?.code == .connectionFailed })
        await server.stop()
    }

    @Test("a domain that says that it has no service, and one whose place is given, have no more than that")
    func noPlaces() async throws {
        var zone = SurveyZone()
        zone.services["_xmpp-client._tcp.example.net"] = .secure([
            SRVRecord(priority: 0, weight: 0, port: 0, target: "")
        ])
        let server = try await verona()
        let refusal = await ServerSurvey.take(of: try await configuration(server, zone))
        #expect(refusal.error?.code == .serviceUnavailable && refusal.endpoints.isEmpty)
        #expect(refusal.advice().first?.remedy.contains("elsewhere") == true)
        let given = await ServerSurvey.take(of: try await server.configuration(for: "romeo"))
        #expect(given.names == nil && given.publications.map(\.state) == [.notAsked, .notAsked] && given.isUsable)
        #expect(given.endpoints.map(\.address) == ["127.0.0.1:\(server.port)"])
        #expect(given.endpoints.first?.isPrivateAddress == false)
        await server.stop()
    }

    @Test("features without end are refused at the limit before authentication (RFC 6120 §13.12)")
    func endlessFeatures() async throws {
        let server = try ScriptedServer()
        let offer =
            "<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' id='1' "
            + "from='example.org' version='1.0'><stream:features>"
            + String(repeating: "<x xmlns='urn:x'/>", count: 2_000)
        async let played: Void = server.play(
            StreamScript(.advance(to: .tls), .await("<stream:stream"), .sendBytes(Array(offer.utf8))))
        let survey = await ServerSurvey.take(of: server.configuration)
        try? await played
        let endpoint = try #require(survey.endpoints.first)
        #expect(endpoint.error?.code == .protocolViolation, "\(endpoint.error as Any)")
        #expect(endpoint.security != nil && endpoint.features == nil && survey.names == nil)

    }

    @Test("a certificate is warned of two weeks before its end, at the limit and not a moment before")
    func expiry() async throws {
        let server = try await verona()
        let survey = await ServerSurvey.take(of: try await configuration(server, .naming(startTLS: [server.port])))
        let end = try #require(survey.endpoints.first?.certificates.compactMap { DateTime($0.notAfter) }.min())
        func warnings(_ milliseconds: Int64) -> [String] {
            let now = DateTime(millisecondsSinceEpoch: end.millisecondsSinceEpoch - milliseconds)
            return survey.advice(at: now).map(\.problem).filter { $0.contains("expire") }
        }
        let limit: Int64 = 14 * 86_400_000
        #expect(warnings(limit) == [])
        #expect(survey.advice().contains { $0.severity == .hint && $0.problem.contains("no direct TLS") })
        #expect(warnings(limit - 1).first?.contains("expires in 13 days") == true)
        #expect(warnings(86_400_000).first?.contains("expires in 1 day,") == true)
        #expect(warnings(1).first?.contains("in less than a day") == true)
        #expect(warnings(-1).first?.contains("expired on") == true)
        await server.stop()
    }
}
