// SPDX-License-Identifier: Apache-2.0

import JabberControl
import SocketIO
import Testing
import XMPP
import XMPPTestSupport
import XMPPTransport

@testable import JabberDaemon

@Suite("diag", .timeLimit(.minutes(5)))
struct DiagnosisTests {
    private static let way = ["srv", "connect", "tls", "certificate", "stream", "login", "bind", "ping"]

    @Test("diag takes every step in order, with what was found")
    func diagnosis() async throws {
        try await DaemonHarness.run { daemon in
            let result = try await daemon.call("diag")
            #expect(result.bool("ok") == true)
            #expect(result.string("target") == "example.org")
            let steps = result.objects("steps")
            #expect(steps.map { $0.string("step") } == Self.way)
            #expect(steps.dropFirst().allSatisfy { $0.string("state") == "ok" })
            func detail(_ step: String) -> String {
                steps.first { $0.string("step") == step }?.string("detail") ?? ""
            }
            #expect(detail("connect").contains("127.0.0.1:\(daemon.server.port)"))
            #expect(detail("tls").hasPrefix("TLSv1.3"))
            #expect(detail("certificate").contains("proved by the name example.org"))
            #expect(detail("stream").contains("SCRAM-SHA-512"))
            #expect(detail("login").hasPrefix("with SCRAM-SHA-512"))
            #expect(detail("bind").hasPrefix("juliet@example.org/"))
            #expect(detail("certificate").contains("above it CN=swift-xmpp test authority, valid until"))
            let security = result["security"]
            #expect(security?["verified"] == "pkix" && security?["resumed"] == false)
            #expect(security?["mechanism"] == "SCRAM-SHA-512" && security?["roundTrips"] == 8)
            #expect(detail("certificate").contains(security?["key"]?.stringValue ?? "no key"))
            let chain = security?["chain"]?.arrayValue ?? []
            #expect(chain.map { $0["subject"] } == ["CN=swift-xmpp test server", "CN=swift-xmpp test authority"])
            #expect(chain.first?["fingerprint"] == security?["fingerprint"])
            let phases = result.objects("phases")
            #expect(phases.map { $0.string("phase") } == ["lookup", "connection", "tls", "authentication", "session"])
            #expect(phases.map { $0.int("roundTrips") } == [0, 0, 3, 3, 2])
        }
    }

    @Test("diag of a domain needs no account")
    func domain() async throws {
        try await DaemonHarness.run(password: nil) { daemon in
            var session = daemon.session
            session["jid"] = nil
            let result = try await daemon.call("diag", ["target": "example.org", "session": .object(session)])
            #expect(result.bool("ok") == true)
            let states = result.objects("steps").map { $0.string("state") }
            #expect(states == ["skipped", "ok", "ok", "ok", "ok", "skipped", "skipped", "skipped"])
            #expect(result["compliance"] == nil, "it takes an account to see that")
        }
    }

    @Test("diag names the step that failed, and why")
    func failedStep() async throws {
        var options = LoopbackOptions()
        options.certificateFlaw = .expired
        try await DaemonHarness.run(options: options) { daemon in
            let result = try await daemon.call("diag")
            #expect(result.bool("ok") == false)
            #expect(result["error"]?["exit"] == 76)
            let failed = result.objects("steps").filter { $0.string("state") == "failed" }
            #expect(failed.map { $0.string("step") } == ["certificate"])
            #expect(failed.first?.string("detail")?.contains("expired") == true)
            // Whoever knows it may pin it.
            let detail = try #require(failed.first?.string("detail"))
            #expect(detail.contains(/The SHA-256 fingerprint of the key that it showed is [0-9a-f]{64}\./), "\(detail)")
            #expect(result.objects("phases").map { $0.string("phase") } == ["lookup", "connection"])
        }
        try await DaemonHarness.run(password: "wrong") { daemon in
            let result = try await daemon.call("diag")
            let failed = result.objects("steps").filter { $0.string("state") == "failed" }
            #expect(failed.map { $0.string("step") } == ["login"])
            #expect(result["error"]?["exit"] == 77 && result["error"]?["phase"] == "authentication")
            #expect(result["error"]?["endpoint"]?.stringValue == "127.0.0.1:\(daemon.server.port)")
        }
    }

    @Test("diag tells of each address what was found there, and of the server what XEP-0479 asks for")
    func survey() async throws {
        try await DaemonHarness.run { daemon in
            let result = try await daemon.call("diag")
            let endpoint = try #require(result.objects("endpoints").first)
            #expect(endpoint.string("endpoint") == "127.0.0.1:\(daemon.server.port)" && endpoint.bool("ok") == true)
            #expect(endpoint.string("way") == "starttls" && endpoint.string("version") == "TLSv1.3")
            #expect(endpoint["error"] == nil && endpoint.string("name") == "example.org")
            #expect(endpoint.objects("proofs") == [["kind": "pkix", "ok": true]])
            let chain = endpoint.objects("chain")
            #expect(chain.map { $0["key"]?.stringValue?.utf8.count } == [64, 64])
            #expect(chain.first?["key"] == result["security"]?["key"])
            #expect(endpoint["mechanisms"]?.stringsValue?.contains("SCRAM-SHA-512") == true)
            #expect(endpoint["features"]?.stringsValue == ["urn:ietf:params:xml:ns:xmpp-sasl"])
            #expect(result["features"]?.stringsValue?.contains("urn:xmpp:sm:3") == true)
            #expect(result["hostMeta"]?["state"] == "skipped" && result["dns"] == nil)
            #expect(result["hostMeta2"] == ["state": "skipped", "reason": "the place is given"])
            let places = result["race"]?["places"]?.arrayValue ?? []
            #expect(places.map { $0["state"] } == ["won"])
            #expect(result["race"]?["winner"]?["why"]?.stringValue?.contains("first") == true)
            let compliance = result.objects("compliance")
            #expect(compliance.count == 10)
            let im = compliance.first { $0.string("category") == "im" && $0.string("level") == "core" }
            let missing = im?.objects("missing").map { $0.string("specification") }
            #expect(im?.string("finding") == "missing" && missing?.contains("XEP-0280") == true)
            #expect(result.objects("advice").allSatisfy { $0.string("severity") == "hint" })
        }
    }

    /// The way there through a network on which nobody is where DNS points to, and the web server at a port of the
    /// test's own.
    private struct WebAlone: StreamConnector {
        let network = NetworkConnector()
        let webPort: UInt16
        let reachesWeb = true

        func targets(
            for domain: String, override: ConnectionTarget?
        ) async throws(ConnectError) -> [ConnectionTarget] { [ConnectionTarget(host: "127.0.0.1", port: 1)] }

        func connect(
            to target: ConnectionTarget, on executor: StreamExecutor
        ) async throws(ConnectError) -> any ByteTransport {
            let port = target.port == 443 ? webPort : target.port
            return try await network.connect(
                to: ConnectionTarget(host: "127.0.0.1", port: port, security: target.security), on: executor)
        }
    }

    /// What a whole diagnosis finds on such a network.
    private func diagnose(
        _ change: (inout LoopbackOptions) -> Void, webPort: (LoopbackServer) -> UInt16? = { $0.webSocketPort }
    ) async throws -> JSONObject {
        var options = LoopbackOptions()
        options.mechanisms = ["SCRAM-SHA-256"]
        options.publishedPlaces = """
            {"xmpp":{"ttl":600,"public-key-pins-sha-256":[]},"links":[
             {"rel":"urn:xmpp:alt-connections:tls","port":{directTLSPort},"ips":["127.0.0.1"],"priority":4,"weight":1,
              "sni":"example.org"}]}
            """
        options.publishedWebSocket = "wss://127.0.0.1:{port}/xmpp-websocket"
        change(&options)
        let server = try await LoopbackServer.start(
            domain: "example.org", accounts: ["juliet": "secret"], options: options)
        var configuration = try await server.configuration(for: "juliet")
        (configuration.host, configuration.port) = (nil, nil)
        configuration.connector = WebAlone(webPort: try #require(webPort(server)))
        let result = await DiagnosisMethod.examine(configuration, hasAccount: true, within: .seconds(120))
        await server.stop()
        Promise.check(.object(result), "diag.result")
        return result
    }

    @Test(
        "where DNS leads nowhere, a whole diagnosis tells of the files, looks at their places, and goes there (XEP-0487)"
    )
    func publishedPlaces() async throws {
        let result = try await diagnose { _ in }
        #expect(result.bool("ok") == true && result["error"] == nil, "\(result)")
        #expect(result["hostMeta2"]?["state"] == "found" && result["hostMeta2"]?["ttl"] == 600)
        #expect(result["hostMeta"]?["state"] == "found" && result["hostMeta"]?["webSockets"]?.arrayValue?.count == 1)
        let endpoints = result.objects("endpoints")
        #expect(endpoints.map { $0.string("way") } == ["starttls", "direct", "websocket"])
        #expect(endpoints.map { $0.bool("ok") } == [false, true, true])
        let places = result["race"]?["places"]?.arrayValue ?? []
        #expect(places.map { $0["way"] } == ["starttls", "direct"] && places.map { $0["state"] } == ["failed", "won"])
        #expect(result["race"]?["winner"]?["why"] == "those before it failed, or were slower")
    }

    @Test(
        "what a login does not believe of the web, a whole diagnosis does not either, and says why (XEP-0156 §3)",
        arguments: [
            ("wrongName", "made out to"), ("untrusted", "expired"), ("wrongType", "no JSON"), ("absent", "404"),
            ("notHTTPS", "TLS"), ("unreachable", "refused"),
        ])
    func unbelieved(state: String, words: String) async throws {
        let result = try await diagnose { options in
            switch state {
            case "wrongName": options.certificateNames = [.dns("example.com")]
            case "untrusted": options.certificateFlaw = .expired
            case "wrongType": options.publishedPlaces = "<html/>"
            case "absent": (options.publishedPlaces, options.publishedWebSocket) = (nil, nil)
            default: break
            }
        } webPort: { server in
            state == "notHTTPS" ? server.port : state == "unreachable" ? 1 : server.webSocketPort
        }
        #expect(result["hostMeta2"]?["state"]?.stringValue == state, "\(result["hostMeta2"] as Any)")
        #expect(result["hostMeta2"]?["reason"]?.stringValue?.contains(words) == true, "\(result["hostMeta2"] as Any)")
        #expect(result["hostMeta2"]?["places"] == nil)
        // The old file is good in one case, and a login goes there.
        let isOldFileGood = state == "wrongType"
        #expect(result.bool("ok") == isOldFileGood, "\(result["error"] as Any)")
        #expect(result.objects("endpoints").map { $0.bool("ok") } == (isOldFileGood ? [false, true] : [false]))
        let advice = result.objects("advice").filter { $0.string("subject")?.contains("host-meta.json") == true }
        #expect(advice.isEmpty == ["absent", "unreachable"].contains(state), "\(advice)")
    }

    @Test(
        "what became of asking for host-meta is told in every state, by the words of the protocol (XEP-0487, XEP-0156)")
    func published() async throws {
        var options = LoopbackOptions()
        options.mechanisms = ["SCRAM-SHA-256"]
        let server = try await LoopbackServer.start(
            domain: "example.org", accounts: ["juliet": "secret"], options: options)
        var survey = await ServerSurvey.take(of: try await server.configuration(for: "juliet"))
        for state in ServerSurvey.Publication.State.allCases {
            survey.publications = ServerSurvey.Publication.File.allCases.map { .init($0, state, reason: "since") }
            let document = SurveyDocument.make(survey)
            for key in ["hostMeta2", "hostMeta"] {
                #expect(document[key]?["state"]?.stringValue == state.rawValue && document[key]?["reason"] == "since")
                #expect((document[key]?["bosh"] == false) == (state == .found))
            }
            Promise.check(.object(document), "diag.result")
        }
        var file = ServerSurvey.Publication(.hostMeta2, .found)
        (file.lifetime, file.hasBOSH, file.mediaType) = (.seconds(600), true, "application/json")
        file.pinnedKeys = [try #require(KeyFingerprint(String(repeating: "ab", count: 32)))]
        let place = try #require(survey.endpoints.first?.place)
        file.places = [.init(place, priority: 3, serverName: "chat.example.org")]
        survey.publications = [file]
        let document = SurveyDocument.make(survey)
        Promise.check(.object(document), "diag.result")
        #expect(
            document["hostMeta2"] == [
                "state": "found", "mediaType": "application/json", "bosh": true, "ttl": 600,
                "places": [
                    [
                        "endpoint": .string(place.endpoint), "way": "starttls", "priority": 3,
                        "name": "chat.example.org",
                    ]
                ],
                "pins": [.string(String(repeating: "ab", count: 32))],
            ])
        #expect(document["hostMeta"] == nil)
        await server.stop()
    }

    @Test(
        "diag of a domain logs nobody in where ANONYMOUS is offered, and fails where no mechanism is known (RFC 4422)")
    func passive() async throws {
        for (mechanisms, isUsable) in [(["ANONYMOUS"], true), (["X-OTHER"], false)] {
            var options = LoopbackOptions()
            options.mechanisms = mechanisms
            try await DaemonHarness.run(options: options, password: nil) { daemon in
                var session = daemon.session
                session["jid"] = nil
                let result = try await daemon.call("diag", ["target": "example.org", "session": .object(session)])
                #expect(result.bool("ok") == isUsable)
                #expect(result.objects("endpoints").map { $0.bool("ok") } == [isUsable])
                #expect(result["error"]?["code"]?.stringValue == (isUsable ? nil : "no-mechanism"))
                let sent = await daemon.server.transcript.filter { $0.direction == .fromClient }
                #expect(!sent.contains { $0.element.localName == "auth" })
            }
        }
    }

    @Test("diag that is not done in time tells what it has found, and ends with the code for that")
    func late() async throws {
        try await DaemonHarness.run { daemon in
            for _ in 0..<2 { await daemon.server.planNextConnection([.stall(afterBytes: 0)], on: .wire) }
            let result = try await daemon.call("diag", timeout: 16)
            #expect(result.bool("ok") == false && result["error"]?["exit"] == 5)
            let endpoint = try #require(result.objects("endpoints").first)
            #expect(endpoint.bool("ok") == false && endpoint["error"]?["code"] == "timed-out")
            #expect(endpoint["connectMilliseconds"] != nil && endpoint["tlsMilliseconds"] == nil)
            #expect(result.objects("advice").contains { $0.string("severity") == "fault" })
        }
    }

    @Test("diag shows the certificate that it refuses, and says what to do")
    func refusedCertificate() async throws {
        var options = LoopbackOptions()
        options.certificateFlaw = .wrongName
        try await DaemonHarness.run(options: options) { daemon in
            let result = try await daemon.call("diag")
            let endpoint = try #require(result.objects("endpoints").first)
            #expect(result["error"]?["exit"] == 76 && endpoint["error"]?["code"] == "certificate")
            let proof = try #require(endpoint.objects("proofs").first)
            #expect(proof.bool("ok") == false && proof.string("fault") == "name")
            #expect(proof.string("reason")?.contains("wrong.example.org") == true)
            #expect(endpoint.objects("chain").first?["names"]?.stringsValue?.contains("wrong.example.org") == true)
            let advice = result.objects("advice").first
            #expect(advice?.string("severity") == "fault" && advice?.string("remedy")?.contains("domain") == true)
        }
    }
}
