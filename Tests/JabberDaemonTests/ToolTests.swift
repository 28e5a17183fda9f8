// SPDX-License-Identifier: Apache-2.0

import JabberControl
import Testing
import XMPP
import XMPPTestSupport

@testable import JabberDaemon

@Suite("ping, version-of, disco, raw and diag")
struct ToolTests {
    @Test("ping measures the own server unless another is named (XEP-0199)")
    func ping() async throws {
        try await DaemonHarness.run { daemon in
            let result = try await daemon.call("ping")
            #expect(result.string("jid") == "example.org")
            let times = result["roundTrips"]?.arrayValue ?? []
            #expect(times.count == 1 && (times.first?.doubleValue ?? -1) >= 0)
            let error = await daemon.failure("ping", ["jid": "nobody@example.org/x"])
            #expect(error?.exit == .refused)
            #expect(error?.stanza?.string("condition") == "service-unavailable")
            #expect(error?.message.contains("does not answer pings (XEP-0199): the program there") == true)
            #expect(error?.message.contains("jabberctl online --resources") == true)
        }
    }

    @Test("version-of asks a contact's program (XEP-0092)")
    func version() async throws {
        try await DaemonHarness.run(buddies: [LoopbackBuddy("romeo")]) { daemon in
            let other = XMPPStream(try await daemon.server.configuration(for: "nurse", resource: "kitchen"))
            try await daemon.server.befriend("nurse", "juliet")
            try await other.connect()
            try await other.goOnline()
            try await daemon.call("presence.show")
            let result = try await daemon.call("version-of", ["jid": "nurse@example.org/kitchen"])
            #expect(result.string("name") == "swift-xmpp")
            #expect(result.string("version") == XMPPVersion.current)
            await other.disconnect()
        }
    }

    @Test("disco names identities and features, and items when asked (XEP-0030)")
    func disco() async throws {
        try await DaemonHarness.run { daemon in
            let result = try await daemon.call("disco")
            #expect(result.objects("identities").contains { $0.string("category") == "server" })
            let features = result["features"]?.stringsValue ?? []
            #expect(features.contains("urn:xmpp:ping") && features == features.sorted())
            #expect(result["items"] == nil)
            #expect(try await daemon.call("disco", ["items": true])["items"]?.arrayValue != nil)
        }
    }

    @Test(
        "a question that is not answered is told with what that means and what to do (RFC 6120 §8.3.3.19)",
        arguments: [
            ("version-of", "example.org", "the server does not support it"),
            ("time", "nobody@example.org", "nobody@example.org/RESOURCE"),
            ("last", "nobody@example.org/x", "not online"),
        ])
    func unanswered(method: String, jid: String, words: String) async throws {
        let error = Refusal.ofQuestion(
            ControlError(XMPPError(StanzaError(.serviceUnavailable, kind: .cancel), from: try JID(jid))),
            to: try JID(jid),
            "answer")
        #expect(error.message.hasPrefix("\(jid) does not answer: ") && error.message.contains(words))
        #expect(error.exit == .refused && error.stanza?.string("condition") == "service-unavailable")
        try await DaemonHarness.run { daemon in
            let error = await daemon.failure(method, ["jid": .string(jid)])
            if let error { #expect(error.message.hasPrefix("\(jid) does not ") && error.exit == .refused, "\(error)") }
        }
    }

    @Test("raw that is too deep or forbidden says so")
    func rawReasons() async throws {
        let deep =
            "<message>" + String(repeating: "<a xmlns='urn:x'>", count: 600)
            + String(repeating: "</a>", count: 600) + "</message>"
        try await DaemonHarness.run { daemon in
            let error = await daemon.failure("raw", ["xml": .string(deep)])
            #expect(error?.exit == .badData && error?.message.contains("levels of elements") == true)
            let comment = await daemon.failure("raw", ["xml": "<message><!-- x --></message>"])
            #expect(comment?.message.contains("does not allow") == true)
        }
    }

    @Test("raw sends a stanza as it is, and waits for the answer to a request")
    func raw() async throws {
        try await DaemonHarness.run(buddies: [LoopbackBuddy("romeo", behaviors: [])]) { daemon in
            let sent = try await daemon.call(
                "raw", ["xml": "<message to='romeo@example.org'><body>x</body></message>\n"])
            #expect(sent.string("sent")?.contains("<body>x</body>") == true && sent["reply"] == nil)
            #expect(try await daemon.server.stanzas(for: "romeo").contains { $0.localName == "message" })
            let asked = try await daemon.call("raw", ["xml": "<iq type='get'><query xmlns='jabber:iq:roster'/></iq>"])
            let reply = try Element.parse(asked.string("reply") ?? "")
            #expect(reply["type"] == "result")
            #expect(try Element.parse(asked.string("sent") ?? "")["id"] == reply["id"])
        }
    }

    @Test(
        "raw refuses what would end the stream, before anybody logs in",
        arguments: [
            "hello", "<message", "<a/><b/>", "<foo/>", "<message xmlns='urn:x'/>", "<p:message/>",
            "<!DOCTYPE a><message/>",
            "<iq type='result'/>", "<iq/>", "<presence/><!-- -->",
        ])
    func rawRefused(_ xml: String) async throws {
        try await DaemonHarness.run { daemon in
            #expect(await daemon.failure("raw", ["xml": .string(xml)])?.exit == .badData)
            #expect(await daemon.server.openConnections == 0)
        }
    }

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
            #expect(result["error"]?["exit"] == 77)
        }
    }
}
