// SPDX-License-Identifier: Apache-2.0

import SocketIO
import Testing
import XMPPTestSupport
import XMPPTransport

@testable import XMPP

@Suite(
    "Surveys of real servers in a zone that is really signed (RFC 7673)", .enabled(if: SignedNameServer.isExpected),
    .timeLimit(.minutes(5)))
struct RealSurveyTests {
    /// Every host is this machine.
    private struct Here: AddressResolver {
        func addresses(of host: String, port: UInt16) async throws(ConnectError) -> [SocketAddress] {
            [.loopback(port: port)]
        }
    }

    @Test("STARTTLS and direct TLS are found, and proven by authorities and by DNS", arguments: ServerKind.expected)
    func proven(kind: ServerKind) async throws {
        let server = try await kind.start(domain: "example.org", accounts: ["romeo": "orchard"])
        var configuration = try server.configuration(for: "romeo")
        let seen = await ServerSurvey.take(of: configuration)
        let key = try #require(seen.endpoints.first?.certificates.first?.keyFingerprint)
        let (plain, direct) = (server.port, server.directTLSPort)
        let names = try await SignedNameServer.start(
            zone: "example.org",
            records: [
                "_xmpp-client._tcp 60 IN SRV 0 0 \(plain) xmpp", "_xmpps-client._tcp 60 IN SRV 5 0 \(direct) xmpp",
                "xmpp 60 IN A 127.0.0.1", "_\(plain)._tcp.xmpp 60 IN TLSA 3 1 1 \(key)",
                "_\(direct)._tcp.xmpp 60 IN TLSA 3 1 1 \(String(repeating: "ab", count: 32))",
            ])
        let place = UnboundResolver.NameServers.zone("example.org.", at: .loopback(port: names.port))
        let resolver = UnboundResolver(nameServers: place, trustedKeys: .records(names.keys))
        (configuration.host, configuration.port, configuration.asksWebForPlaces) = (nil, nil, false)
        configuration.connector = NetworkConnector(services: resolver, verifier: resolver, addresses: Here())
        let survey = await ServerSurvey.take(of: configuration, within: .seconds(120))
        let answers = try #require(survey.names?.answers)
        #expect(answers.allSatisfy { $0.validation == .secure }, "\(answers)")
        #expect(answers.map(\.type) == [.service, .service, .ipv4, .ipv6, .key, .key])
        #expect(answers.filter(\.isAbsent).map(\.type) == [.ipv6], "that there is none is signed too")
        #expect(survey.endpoints.map(\.place.way) == [.startTLS, .directTLS])
        #expect(survey.endpoints.allSatisfy { $0.isUsable }, "\(survey.endpoints.map(\.error))")
        #expect(survey.endpoints.map { $0.proofs.map { $0.refusal == nil } } == [[true, true], [true, false]])
        #expect(survey.endpoints.allSatisfy { $0.mechanisms.contains("SCRAM-SHA-1") })
        #expect(survey.advice().contains { $0.severity == .fault && $0.remedy.contains("TLSA") })
        await names.stop()
        await server.stop()
    }

    @Test("answers whose signatures are of other keys are bogus, those without keys to compare with are not signed")
    func otherKeys() async throws {
        let names = try await SignedNameServer.start(
            zone: "example.net", records: ["_xmpp-client._tcp 60 IN SRV 0 0 1 xmpp", "xmpp 60 IN A 127.0.0.1"])
        let other = try await SignedNameServer.start(zone: "example.net", records: [])
        let place = UnboundResolver.NameServers.zone("example.net.", at: .loopback(port: names.port))
        for (keys, validation) in [(other.keys, NameReport.Answer.Validation.bogus), ([], .insecure)] {
            let resolver = UnboundResolver(nameServers: place, trustedKeys: .records(keys))
            var configuration = XMPPConfiguration(jid: try JID("example.net"), password: nil)
            configuration.asksWebForPlaces = false
            configuration.connector = NetworkConnector(services: resolver, verifier: resolver, addresses: Here())
            let survey = await ServerSurvey.take(of: configuration, within: .seconds(120))
            let answer = try #require(survey.names?.answers.first { $0.name.hasPrefix("_xmpp-client.") })
            #expect(answer.validation == validation, "\(answer)")
            #expect((answer.reason != nil) == (validation == .bogus) && survey.endpoints.map(\.isUsable) == [false])
        }
        await other.stop()
        await names.stop()
    }
}
