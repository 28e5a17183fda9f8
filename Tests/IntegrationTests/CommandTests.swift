// SPDX-License-Identifier: Apache-2.0

import JabberControl
import Testing

/// The main job on every server, by the real programs and in this process: one body.
@Suite("jabberctl on servers", .serialized)
struct CommandTests {
    @Test(
        "See who is online, send a message, hear it; contacts, questions, and what goes wrong",
        arguments: Place.Kind.expected, Tool.Way.allCases)
    func mainJob(_ kind: Place.Kind, _ way: Tool.Way) async throws {
        try await Place.with(kind) { place in
            let job = Job(tool: Tool(way: way, place: place))
            try await job.becomeFriends()
            try await job.seeAndSend()
            try await job.keepForLater()
            try await job.changeContacts()
            try await job.askServer()
            try await job.knowKey()
            try await job.failures()
            try await job.diagnose()
        }
    }
}

/// The steps, in the order in which a person would take them.
struct Job: Sendable {
    let tool: Tool
    var domain: String { tool.place.domain }

    /// Both ask, both accept (RFC 6121 §3.1).
    func becomeFriends() async throws {
        let added = try await tool.run(
            as: "juliet", "roster", "add", "romeo@\(domain)", "--name", "Romeo", "--group", "Lovers", "--json")
        #expect(added.code == 0, "\(added.errors)")
        #expect(added.json.value(at: "contact.ask") == "subscribe")
        let pending = try await tool.run(as: "romeo", "sub", "pending", "--json")
        #expect(pending.json["requests"]?.arrayValue?.first?["jid"] == .string("juliet@\(domain)"), "\(pending)")
        let accepted = try await tool.run(as: "romeo", "sub", "accept", "juliet@\(domain)", "--json")
        #expect(accepted.json.string("subscription") == "from", "\(accepted)")
        _ = try await tool.run(as: "romeo", "sub", "request", "juliet@\(domain)")
        let both = try await tool.run(as: "juliet", "sub", "accept", "romeo@\(domain)", "--json")
        #expect(both.json.string("subscription") == "both", "\(both)")
        let nobody = try await tool.run(as: "juliet", "online", "--exit-code", "--json")
        #expect(nobody.code == 1)
        #expect(nobody.json["contacts"] == [])
    }

    /// The main job.
    func seeAndSend() async throws {
        let romeo = try tool.start(as: "romeo", "listen", "--kind", "message,account", "--count", "2", "--json")
        let connected = await romeo.lines(1)
        #expect(connected.first?.contains("\"connected\"") == true)
        let online = try await tool.run(as: "juliet", "online", "--json")
        #expect(online.code == 0, "\(online.errors)")
        let contact = online.json["contacts"]?.arrayValue?.first
        #expect(contact?["jid"] == .string("romeo@\(domain)"))
        #expect(contact?["name"] == "Romeo" && contact?["groups"] == ["Lovers"])
        #expect(contact?["online"] == true && contact?["show"] == "available")
        let resource = contact?["resources"]?.arrayValue?.first?["resource"]?.stringValue ?? ""
        try await askContact("romeo@\(domain)/\(resource)")
        let sent = try await tool.run(as: "juliet", "send", "romeo@\(domain)", "wherefore & <art> thou 🌹", "--json")
        #expect(sent.code == 0, "\(sent.errors)")
        #expect(sent.json["results"]?.arrayValue?.first?["state"] == "server")
        let heard = await romeo.end()
        #expect(heard.code == 0)
        let line = heard.output.split(separator: "\n").last.map(String.init) ?? ""
        let event = try JSONReader.read(line.utf8)
        #expect(event["body"] == "wherefore & <art> thou 🌹")
        #expect(event["source"] == "live")
        #expect(event["from"]?.stringValue?.hasPrefix("juliet@\(domain)/") == true)
        #expect(event["id"] == sent.json["results"]?.arrayValue?.first?["id"])
    }

    private func askContact(_ jid: String) async throws {
        // A contact's program answers those who may see its presence; juliet's session has to be there for that.
        let shown = try await tool.run(as: "juliet", "presence", "show", jid, "--json")
        #expect(shown.json.string("show") == "available", "\(shown)")
        let ping = try await tool.run(as: "juliet", "ping", jid, "--json")
        #expect(ping.json["roundTrips"]?.arrayValue?.count == 1, "\(ping)")
        let version = try await tool.run(as: "juliet", "version-of", jid, "--json")
        #expect(version.json.string("name") == "jabberctl", "\(version)")
        #expect(version.json.string("version") == ProductVersion.current)
    }

    /// A message to somebody who is away waits at the server, and whoever only looks does not take it.
    func keepForLater() async throws {
        let sent = try await tool.run(as: "juliet", "send", "nurse@\(domain)", "when you are back")
        #expect(sent.code == 0, "\(sent.errors)")
        _ = try await tool.run(as: "nurse", "online")
        _ = try await tool.run(as: "nurse", "sub", "pending")
        let heard = try await tool.run(as: "nurse", "listen", "--count", "1", "--json")
        let event = try JSONReader.read(heard.output.utf8)
        #expect(event["body"] == "when you are back")
        #expect(event["source"] == "offline")
        let bounced = try await tool.run(as: "juliet", "send", "nobody@\(domain)", "x", "--json")
        #expect(bounced.code == 2)
        let error = bounced.json["results"]?.arrayValue?.first?["error"]
        #expect(error?["stanza"]?["condition"]?.stringValue != nil, "\(bounced)")
        let mixed = try await tool.run(as: "juliet", "send", "nobody@\(domain)", "nurse@\(domain)", "x", "--json")
        #expect(mixed.code == 2)
        #expect(mixed.json["results"]?.arrayValue?.map { $0["state"] } == ["failed", "server"])
    }

    func changeContacts() async throws {
        let jid = "romeo@\(domain)"
        let renamed = try await tool.run(as: "juliet", "roster", "rename", jid, "Romi", "--json")
        #expect(renamed.json.value(at: "contact.name") == "Romi", "\(renamed)")
        let grouped = try await tool.run(as: "juliet", "roster", "group", jid, "--add", "Fair", "--json")
        #expect(grouped.json.value(at: "contact.groups") == ["Fair", "Lovers"], "\(grouped)")
        let listed = try await tool.run(as: "juliet", "roster", "list", "-g", "jid")
        #expect(listed.output == "\(jid)\n")
        let removed = try await tool.run(as: "juliet", "roster", "remove", jid)
        #expect(removed.code == 0)
        let gone = try await tool.run(as: "juliet", "roster", "show", jid, "--json")
        #expect(gone.code == 4)
    }

    func askServer() async throws {
        let ping = try await tool.run(as: "juliet", "ping", "--json")
        #expect(ping.json.string("jid") == domain, "\(ping)")
        let direct = try await tool.run(as: "juliet", directTLS: true, "ping", "--json")
        #expect(direct.code == 0, "\(direct)")
        let disco = try await tool.run(as: "juliet", "disco", "--json")
        let identities = disco.json["identities"]?.arrayValue ?? []
        #expect(identities.contains { $0["category"] == "server" }, "\(disco)")
        let raw = try await tool.run(
            as: "juliet", "raw", "<iq type='get'><query xmlns='jabber:iq:roster'/></iq>", "--json")
        #expect(raw.json.string("reply")?.contains("jabber:iq:roster") == true, "\(raw)")
        let set = try await tool.run(as: "juliet", "presence", "set", "away", "--status", "lunch", "--json")
        #expect(set.json.string("show") == "away", "\(set)")
    }

    /// The server is known by its key.
    func knowKey() async throws {
        let seen = try await tool.run(as: "juliet", "diag", "--json")
        let key = seen.json.value(at: "security.key")?.stringValue ?? ""
        #expect(key.utf8.count == 64, "\(seen)")
        let known = try await tool.run(as: "juliet", "--pin", key, "ping", "--json")
        #expect(known.code == 0, "\(known)")
        let other = String(repeating: "0", count: 64)
        let refused = try await tool.run(as: "juliet", "--pin", other, "ping", "--json")
        let reason = refused.error.string("message") ?? ""
        #expect(refused.code == 76 && reason.contains(other) && reason.hasSuffix("--pin \(key)"), "\(refused)")
    }

    func failures() async throws {
        // RFC 6121 §3.4: a server keeps the answer for a later request, or drops it without a word.
        let nothing = try await tool.run(as: "nurse", "sub", "accept", "stranger@\(domain)", "--json")
        let isKept = nothing.code == 0 && nothing.json.bool("preapproved") == true
        #expect(isKept || nothing.code == 4 && nothing.errors.contains("no request of stranger@"), "\(nothing)")
        let password = try await tool.run(as: "juliet", password: "wrong", "ping", "--json")
        #expect(password.code == 77)
        #expect(password.error.string("code") == "auth-refused", "\(password.errors)")
        #expect(password.error.string("message")?.contains("SCRAM-SHA-") == true, "\(password.errors)")
        let stranger = try await tool.run(as: "juliet@elsewhere.example", directTLS: true, "ping", "--json")
        #expect(stranger.code == 76, "\(stranger.errors)")
        let reason = stranger.error.string("message") ?? ""
        #expect(reason.contains("elsewhere.example"), "\(reason)")
        // A server that is asked for another's certificate shows its own, or refuses (RFC 6066 §3).
        if stranger.error.string("code") == "certificate" {
            #expect(reason.contains(domain), "\(reason)")
        } else {
            #expect(stranger.error.string("code") == "tls-failed")
        }
        let address = try await tool.run(as: "juliet", "send", "ro meo@\(domain)", "x", "--json")
        #expect(address.code == 65)
        #expect(address.error.string("message")?.contains("localpart") == true)
        let unknown = try await tool.run(as: "juliet", "ping", "--host", "nowhere.invalid", "--json")
        #expect(unknown.code == 68, "\(unknown.errors)")
        let silent = try await tool.run(as: "juliet", "ping", "--port", "1", "--json")
        #expect(silent.code == 69, "\(silent.errors)")
        let interrupted = try tool.start(as: "juliet", "listen", "--kind", "account", "--json")
        _ = await interrupted.lines(1)
        #expect(await interrupted.interrupt().code == 130)
    }

    func diagnose() async throws {
        let report = try await tool.run(as: "juliet", "diag", "--json")
        #expect(report.code == 0, "\(report.errors)")
        #expect(report.json.bool("ok") == true)
        let steps = report.json["steps"]?.arrayValue ?? []
        #expect(steps.last?["step"] == "ping")
        let endpoints = report.json["endpoints"]?.arrayValue ?? []
        #expect(!endpoints.isEmpty && endpoints.allSatisfy { $0["ok"] == true && $0["chain"] != nil }, "\(endpoints)")
        let core = report.json["compliance"]?.arrayValue?.first
        #expect(core?["category"] == "core" && core?["level"] == "core" && core?["finding"] == "met", "\(report.json)")
    }
}
