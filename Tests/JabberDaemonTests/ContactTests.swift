// SPDX-License-Identifier: Apache-2.0

import JabberControl
import Testing
import XMPP
import XMPPStorage
import XMPPTestSupport

@testable import JabberDaemon

@Suite("roster and sub")
struct ContactTests {
    private static let romeo = LoopbackBuddy("romeo", name: "Romeo", groups: ["Lovers"], behaviors: [])

    @Test("The list is sorted by name and can be narrowed to a group")
    func list() async throws {
        try await DaemonHarness.run(buddies: [Self.romeo, LoopbackBuddy("abram", name: "abram")]) { daemon in
            let all = try await daemon.call("roster.list").objects("contacts")
            #expect(all.map { $0.string("jid") } == ["abram@example.org", "romeo@example.org"])
            #expect(
                all[1] == [
                    "jid": "romeo@example.org", "name": "Romeo", "groups": ["Lovers"], "subscription": "both",
                ])
            #expect(try await daemon.call("roster.list", ["group": "Lovers"]).objects("contacts").count == 1)
        }
    }

    @Test("show adds presence; who is not in the list is exit code 4")
    func show() async throws {
        try await DaemonHarness.run(buddies: [Self.romeo]) { daemon in
            let contact = try await daemon.call("roster.show", ["jid": "romeo@example.org"])["contact"]
            #expect(contact?["show"] == "available")
            #expect(contact?["groups"] == ["Lovers"])
            for method in ["roster.show", "roster.rename", "roster.group", "roster.remove"] {
                let error = await daemon.failure(method, ["jid": "nobody@example.org", "name": "x"])
                #expect(error?.code == .contactNotFound)
                #expect(error?.exit == .notFound)
            }
        }
    }

    @Test("add puts a contact into the list and asks to see it, unless that is not wanted")
    func add() async throws {
        try await DaemonHarness.run { daemon in
            let silent = try await daemon.call(
                "roster.add",
                ["jid": "nurse@example.org/x", "name": "Nurse", "group": ["Home", "Old"], "noSubscribe": true])
            #expect(
                silent["contact"] == [
                    "jid": "nurse@example.org", "name": "Nurse", "groups": ["Home", "Old"], "subscription": "none",
                ])
            #expect(await daemon.server.received(from: "juliet").allSatisfy { $0["type"] != "subscribe" })
            let asking = try await daemon.call("roster.add", ["jid": "nurse@example.org"])["contact"]
            #expect(asking?["ask"] == "subscribe")
            #expect(asking?["name"] == "Nurse", "what is not named anew stays")
        }
    }

    @Test("rename and group change one thing and keep the other")
    func change() async throws {
        try await DaemonHarness.run(buddies: [Self.romeo]) { daemon in
            let jid: JSONValue = "romeo@example.org"
            let renamed = try await daemon.call("roster.rename", ["jid": jid, "name": "Romi"])["contact"]
            #expect(renamed?["name"] == "Romi" && renamed?["groups"] == ["Lovers"])
            let exact = try await daemon.call("roster.group", ["jid": jid, "group": ["B", "A"]])["contact"]
            #expect(exact?["groups"] == ["A", "B"] && exact?["name"] == "Romi")
            let more = try await daemon.call("roster.group", ["jid": jid, "add": ["C"], "remove": ["A"]])["contact"]
            #expect(more?["groups"] == ["B", "C"])
            let nameless = try await daemon.call("roster.rename", ["jid": jid, "name": ""])["contact"]
            #expect(nameless?["name"] == nil && nameless?["groups"] == ["B", "C"])
            let none = try await daemon.call("roster.group", ["jid": jid])["contact"]
            #expect(none?["groups"] == [])
            #expect(await daemon.failure("roster.group", ["jid": jid, "group": ["A"], "add": ["B"]])?.exit == .usage)
        }
    }

    @Test("remove takes the contact and both subscriptions away (RFC 6121 §2.5)")
    func remove() async throws {
        try await DaemonHarness.run(buddies: [Self.romeo]) { daemon in
            let result = try await daemon.call("roster.remove", ["jid": "romeo@example.org"])
            #expect(result.string("jid") == "romeo@example.org")
            #expect(try await daemon.server.roster(of: "juliet").isEmpty)
            #expect(try await daemon.call("roster.list").objects("contacts").isEmpty)
        }
    }

    @Test("Two people who ask and accept see each other afterwards (RFC 6121 §3.1)")
    func subscribe() async throws {
        try await DaemonHarness.run { juliet in
            let nurse = try DaemonHarness(juliet.server, account: "nurse")
            try await nurse.give(password: "secret")
            let asked = try await juliet.call("sub.request", ["jid": "nurse@example.org", "text": "it is me"])
            #expect(asked.string("ask") == "subscribe" && asked.string("subscription") == "none")
            let pending = try await nurse.call("sub.pending").objects("requests")
            #expect(pending.map { $0.string("jid") } == ["juliet@example.org"])
            #expect(pending.first?.string("text") == "it is me")
            let accepted = try await nurse.call("sub.accept", ["jid": "juliet@example.org"])
            #expect(accepted.string("subscription") == "from")
            #expect(try await nurse.call("sub.pending").objects("requests").isEmpty)
            let back = try await nurse.call("sub.request", ["jid": "juliet@example.org"])
            #expect(back.string("subscription") == "from" && back.string("ask") == "subscribe")
            #expect(try await juliet.call("sub.accept", ["jid": "nurse@example.org"]).string("subscription") == "both")
            #expect(try await juliet.call("sub.cancel", ["jid": "nurse@example.org"]).string("subscription") == "to")
            await nurse.end()
        }
    }

    @Test("A thousand strangers who ask with 300 KB of text each cannot fill the daemon (RFC 6120 §13.12)")
    func longRequests() throws {
        let notes = SessionNotes(account: try JID("juliet@example.org"))
        let text = "me" + String(repeating: "\u{301}", count: 150_000)
        for number in 0...SessionNotes.maximumRequests {
            var request = Presence(.subscribe, status: text)
            request.from = try JID("n\(number)@example.net")
            notes.note(.subscriptionRequest(request))
        }
        #expect(notes.requests.count == SessionNotes.maximumRequests)
        #expect(
            notes.requests.allSatisfy {
                $0.text.map { $0.utf8.count <= 4_096 && $0.utf8.starts(with: "me".utf8) } == true
            })
        var long = Presence(.available, status: text)
        long.from = try JID("juliet@example.org/other")
        notes.note(.presence(long))
        #expect(notes.own.resources.allSatisfy { $0.presence.status.map { $0.utf8.count <= 4_096 } == true })
        #expect(notes.own.resources.count == 1)
    }

    @Test(
        "Accepting what nobody asked for is kept for later where the server can, and else exit code 4 (RFC 6121 §3.4)")
    func acceptNothing() async throws {
        try await DaemonHarness.run { daemon in
            let result = try await daemon.call("sub.accept", ["jid": "nurse@example.org"])
            #expect(result.bool("preapproved") == true && result.string("subscription") == "none")
        }
        var options = LoopbackOptions()
        options.offersPreApproval = false
        try await DaemonHarness.run(options: options, buddies: [Self.romeo]) { daemon in
            let error = await daemon.failure("sub.accept", ["jid": "nurse@example.org"])
            #expect(error?.exit == .notFound && error?.message.contains("no request of nurse@example.org") == true)
            // Who sees the account already goes on seeing it.
            let result = try await daemon.call("sub.accept", ["jid": "romeo@example.org"])
            #expect(result.string("subscription") == "both" && result["preapproved"] == nil)
        }
    }

    @Test("A request that is denied is gone (RFC 6121 §3.2)")
    func deny() async throws {
        try await DaemonHarness.run { juliet in
            try await juliet.call("sub.request", ["jid": "nurse@example.org"])
            let nurse = try DaemonHarness(juliet.server, account: "nurse")
            try await nurse.give(password: "secret")
            #expect(try await nurse.call("sub.pending").objects("requests").count == 1)
            #expect(try await nurse.call("sub.deny", ["jid": "juliet@example.org"]).string("subscription") == "none")
            #expect(try await nurse.call("sub.pending").objects("requests").isEmpty)
            await nurse.end()
        }
    }

    @Test(
        "What waits is refused without having been looked at; where nothing does and nobody sees the account, it is exit code 4",
        arguments: ["sub.deny", "sub.cancel"])
    func denyNothing(_ method: String) async throws {
        try await DaemonHarness.run(buddies: [Self.romeo]) { juliet in
            try await juliet.call("sub.request", ["jid": "nurse@example.org"])
            let nurse = try DaemonHarness(juliet.server, account: "nurse")
            try await nurse.give(password: "secret")
            #expect(try await nurse.call(method, ["jid": "juliet@example.org"]).string("subscription") == "none")
            let again = await nurse.failure(method, ["jid": "juliet@example.org"])
            #expect(again?.exit == .notFound, "\(again as Any)")
            await nurse.end()
            // Who sees the account sees it no more; after that there is nothing left to take back.
            #expect(try await juliet.call(method, ["jid": "romeo@example.org"]).string("subscription") == "to")
            let error = await juliet.failure(method, ["jid": "romeo@example.org"])
            #expect(error?.exit == .notFound && error?.message.contains("romeo@example.org does not see") == true)
        }
    }
}
