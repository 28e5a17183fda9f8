// SPDX-License-Identifier: Apache-2.0

import JabberControl
import Testing
import XMPP
import XMPPTestSupport

@testable import JabberDaemon

@Suite("time, last and adhoc")
struct AdHocTests {
    /// Runs a test with nurse's client answering.
    private static func run(_ body: @Sendable (DaemonHarness) async throws -> Void) async throws {
        try await DaemonHarness.run(buddies: [LoopbackBuddy("romeo")]) { daemon in
            let nurse = XMPPStream(try await daemon.server.configuration(for: "nurse", resource: "kitchen"))
            try await daemon.server.befriend("nurse", "juliet")
            await nurse.answer(.get, "query", namespace: LastActivity.namespace, from: .contacts) { _, _ in
                LastActivity(elapsed: .seconds(903), status: "gone").element
            }
            await nurse.answer(.set, AdHocCommand.self, from: .contacts) { step, _ in
                try answer(step)
            }
            try await nurse.connect()
            try await nurse.goOnline()
            try await daemon.call("presence.show")
            try await body(daemon)
            await nurse.disconnect()
        }
    }

    private static let questions = DataForm(
        .form, title: "Add", fields: [.init("name", isRequired: true), .init("secret", .textPrivate, values: ["x"])])

    private static func answer(_ step: AdHocCommand) throws -> AdHocCommand {
        switch (step.node, step.action) {
        case ("add", .execute):
            return AdHocCommand("add", sessionID: "s1", status: .executing, actions: [.complete], form: questions)
        case ("add", .cancel):
            return AdHocCommand("add", sessionID: "s1", status: .canceled)
        case ("add", _) where step.sessionID == "s1":
            return AdHocCommand(
                "add", sessionID: "s1", status: .completed,
                notes: [.init("added \(step.form?.value("name") ?? "nobody")")])
        case ("endless", _):
            return AdHocCommand("endless", sessionID: "s2", status: .executing, form: questions)
        default:
            throw StanzaError(.itemNotFound, kind: .cancel)
        }
    }

    private static let kitchen: JSONValue = "nurse@example.org/kitchen"

    @Test("time and last ask a contact's program (XEP-0202, XEP-0012)")
    func asking() async throws {
        try await Self.run { daemon in
            let time = try await daemon.call("time", ["jid": Self.kitchen])
            #expect(time.string("zone") == "+00:00" && time.string("time")?.hasSuffix("Z") == true)
            let last = try await daemon.call("last", ["jid": Self.kitchen])
            #expect(last["seconds"] == 903 && last.string("status") == "gone")
        }
    }

    @Test("a command without answers shows its questions and is given up; with answers it runs to its end (XEP-0050)")
    func running() async throws {
        try await Self.run { daemon in
            let shown = try await daemon.call("adhoc.run", ["jid": Self.kitchen, "node": "add"])
            #expect(shown.string("status") == "executing")
            let fields = shown["form"]?["fields"]?.arrayValue ?? []
            #expect(fields.map { $0["name"]?.stringValue } == ["name", "secret"])
            #expect(fields.first?["required"] == true && fields.last?["values"] == nil)
            let done = try await daemon.call(
                "adhoc.run", ["jid": Self.kitchen, "node": "add", "field": ["name=bob"]])
            #expect(done.string("status") == "completed")
            #expect(done["notes"]?.arrayValue?.first?["text"] == "added bob")
        }
    }

    @Test("what a command does not take is said, and a command that asks for ever is left")
    func refusals() async throws {
        try await Self.run { daemon in
            let rows: [(JSONObject, ExitCode)] = [
                (["jid": Self.kitchen, "node": "add", "field": ["secret=y"]], .badData),
                (["jid": Self.kitchen, "node": "add", "field": ["name=a", "other=b"]], .badData),
                (["jid": Self.kitchen, "node": "add", "field": ["name"]], .usage),
                (["jid": Self.kitchen, "node": "none"], .refused),
            ]
            for (params, exit) in rows { #expect(await daemon.failure("adhoc.run", params)?.exit == exit, "\(params)") }
            let endless = try await daemon.call(
                "adhoc.run", ["jid": Self.kitchen, "node": "endless", "field": ["name=a"]])
            #expect(endless.string("status") == "executing")
        }
    }
}
