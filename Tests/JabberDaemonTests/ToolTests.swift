// SPDX-License-Identifier: Apache-2.0

import JabberControl
import Testing
import XMPP
import XMPPTestSupport

@testable import JabberDaemon

@Suite("ping, version-of, disco and raw")
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
}
