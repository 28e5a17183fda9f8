// SPDX-License-Identifier: Apache-2.0

import JabberControl
import Testing
import XMPP
import XMPPTestSupport

@testable import JabberDaemon

@Suite("account register, invite, devices and revoke", .timeLimit(.minutes(5)))
struct RegisterTests {
    private static func oldForm(_ names: String...) -> RegistrationForm {
        var form = RegistrationForm()
        form.instructions = "Choose a name."
        form.oldFields = names.map { .init($0) }
        return form
    }

    private static let riddle: RegistrationForm = {
        var form = RegistrationForm()
        form.form = DataForm(
            .form,
            fields: [
                .init("username", isRequired: true), .init("password", .textPrivate, isRequired: true),
                .init(
                    "ocr", label: "Enter the text you see", isRequired: true,
                    media: FieldMedia([
                        .init("cid:sha1+f24@bob.xmpp.org", type: "image/png"),
                        .init("http://example.org/ocr.png", type: "image/png"),
                    ])),
            ])
        form.enclosed = [EnclosedData("sha1+f24@bob.xmpp.org", type: "image/png", bytes: [1, 2, 3])]
        return form
    }()

    /// Runs a body with a server that makes accounts.
    private static func run(
        _ form: RegistrationForm? = oldForm("username", "password"),
        _ change: (inout LoopbackOptions) -> Void = { _ in },
        _ body: (DaemonHarness) async throws -> Void
    ) async throws {
        var options = LoopbackOptions()
        options.registration = form
        change(&options)
        try await DaemonHarness.run(options: options, body)
    }

    /// A server that makes accounts.
    private static func registering() -> LoopbackOptions {
        var options = LoopbackOptions()
        options.registration = oldForm("username", "password")
        return options
    }

    private static func document(_ refusal: ControlError?) -> [String] {
        [refusal.map { "\($0.exit.rawValue)" } ?? "0", refusal?.message ?? ""]
    }

    @Test("the questions come first, the answers belong to them, and the account is there")
    func twoSteps() async throws {
        try await Self.run { daemon in
            let asked = try await daemon.call("account.register", ["target": "romeo@example.org"])
            #expect(asked.string("status") == "asking" && asked.string("username") == "romeo")
            #expect(asked.string("instructions") == "Choose a name." && asked.string("domain") == "example.org")
            let fields = asked["form"]?["fields"]?.arrayValue ?? []
            #expect(fields.map { $0["name"]?.stringValue } == ["username", "password"])
            #expect(fields.allSatisfy { $0["required"] == true })
            let id = try #require(asked["registration"])
            let done = try await daemon.call(
                "account.register", ["target": "x", "registration": id, "submit": true, "password": "orchard"])
            #expect(done.string("status") == "registered" && done.string("jid") == "romeo@example.org")
            #expect(await daemon.server.hasAccount("romeo"))
            let gone = await daemon.failure("account.register", ["target": "x", "registration": id])
            #expect(gone?.code == .notFound)
        }
    }

    @Test(
        "what a server has against it is a sentence, and an exit code that is true",
        arguments: [
            (StanzaError(.resourceConstraint, kind: .wait), 75, "try again later"),
            (
                StanzaError(.notAcceptable, kind: .modify, text: "too weak"), 65,
                "does not take these answers (too weak)"
            ),
            (StanzaError(.notAllowed, kind: .cancel), 2, "makes no account of this"),
            (StanzaError(.forbidden, kind: .auth), 2, "makes no account of this"),
            (StanzaError(.internalServerError, kind: .wait), 75, "internal-server-error"),
        ] as [(StanzaError, Int32, String)])
    func refusals(error: StanzaError, exit: Int32, words: String) async throws {
        try await Self.run(Self.oldForm("username", "password"), { $0.registrationRefusal = error }) { daemon in
            let failure = await daemon.failure(
                "account.register", ["target": "romeo@example.org", "submit": true, "password": "x"])
            #expect(failure?.exit.rawValue == exit && failure?.message.contains(words) == true, "\(failure as Any)")
            #expect(failure?.stanza?.string("condition") == error.condition.rawValue)
        }
    }

    @Test("a name that is taken, a target that is none, and a place that makes no accounts are told apart")
    func otherRefusals() async throws {
        try await Self.run { daemon in
            let rows: [(String, JSONObject, Int32, String)] = [
                ("juliet@example.org", ["submit": true, "password": "x"], 2, "\"juliet\" is taken"),
                ("example.org", ["submit": true, "password": "x"], 65, "“username” has to be filled in"),
                ("romeo@example.org", ["submit": true], 65, "“password” has to be filled in"),
                ("romeo@example.org", ["submit": true, "field": ["odd=1"]], 65, "no field “odd”"),
                ("romeo@example.org", ["submit": true, "field": ["odd"]], 64, "NAME=VALUE"),
                ("a b", [:], 65, ""), ("xmpp:example.org?message", [:], 65, "invites to nothing"),
                ("xmpp:romeo@example.org?roster;preauth=T", [:], 65, "not to an account"),
                ("xmpp:example.org?register;preauth=%20", [:], 65, "cut off"),
                ("xmpp:example.org?register;preauth=TOKEN", [:], 2, "takes no invitations"),
            ]
            for (target, more, exit, words) in rows {
                var params = more
                params["target"] = .string(target)
                let failure = await daemon.failure("account.register", params)
                #expect(failure?.exit.rawValue == exit && failure?.message.contains(words) == true, "\(failure as Any)")
            }
        }
        try await Self.run(nil) { daemon in
            let failure = await daemon.failure("account.register", ["target": "example.org"])
            #expect(failure?.exit == .refused && failure?.message.contains("makes no accounts") == true)
        }
    }

    @Test("a server that registers on the web says where, and one that asks nothing is told of (XEP-0077 §4)")
    func elsewhere() async throws {
        var web = Self.oldForm()
        web.page = OutOfBandData("https://example.org/register")
        try await Self.run(web) { daemon in
            let failure = await daemon.failure("account.register", ["target": "example.org"])
            #expect(failure?.exit == .refused)
            #expect(
                failure?.message
                    == "example.org makes accounts elsewhere: https://example.org/register It says: Choose a name.")
        }
        try await Self.run(RegistrationForm()) { daemon in
            let failure = await daemon.failure("account.register", ["target": "example.org"])
            #expect(failure?.exit == .protocolFailure && failure?.message.contains("asks for nothing") == true)
        }
    }

    @Test("a picture that came along is a file, for as long as it is asked about (XEP-0158, XEP-0231)")
    func pictures() async throws {
        let folder = try TemporaryFolder(prefix: "register")
        defer { folder.remove() }
        var options = LoopbackOptions()
        options.registration = Self.riddle
        options.riddles = ["ocr": "7nHL3"]
        let server = try await LoopbackServer.start(domain: "example.org", options: options)
        let daemon = try DaemonHarness(server) { $0.paths.state = folder.path }
        let asked = try await daemon.call("account.register", ["target": "romeo@example.org"])
        let media = asked["form"]?["fields"]?.arrayValue?.last?["media"]?.arrayValue ?? []
        #expect(media.count == 2 && media.last?["uri"] == "http://example.org/ocr.png" && media.last?["file"] == nil)
        let file = try #require(media.first?["file"]?.stringValue)
        #expect(file.hasSuffix(".png"))
        let contents = try #require(try PrivateFile.read(file))
        #expect(contents.bytes == [1, 2, 3] && contents.mode & 0o077 == 0)
        let id = try #require(asked["registration"])
        for (text, exit) in [("wrong", 2), ("7nHL3", nil)] as [(JSONValue, Int32?)] {
            let failure = await daemon.failure(
                "account.register",
                [
                    "target": "x", "registration": id, "submit": true, "password": "x",
                    "field": ["ocr=\(text.stringValue ?? "")"],
                ])
            #expect(failure?.exit.rawValue == exit, "\(failure as Any)")
        }
        #expect(!PrivateFile.exists(file))
        await daemon.end()
        await server.stop()
    }

    @Test("a picture that is too large, or did not come along, is told of where it was to be looked at (XEP-0231 §2.1)")
    func unseen() async throws {
        let most = EnclosedData.maximumBytes
        for (bytes, words) in [(nil, "did not come along"), (most + 1, "more than 64 KiB"), (most, nil)]
            as [(Int?, String?)]
        {
            var form = Self.riddle
            form.enclosed =
                bytes.map {
                    [EnclosedData("sha1+f24@bob.xmpp.org", type: "image/png", bytes: [UInt8](repeating: 1, count: $0))]
                } ?? []
            try await Self.run(form) { daemon in
                let asked = try await daemon.call("account.register", ["target": "example.org"])
                let fields = asked["form"]?["fields"]?.arrayValue ?? []
                let media = fields.first { $0["name"] == "ocr" }?["media"]?.arrayValue ?? []
                #expect((media.first?["file"] == nil) == (words != nil))
                #expect(media.first?["problem"]?.stringValue?.contains(words ?? "") == (words == nil ? nil : true))
                #expect(media.last?["problem"] == nil, "one on the web is not fetched")
            }
        }
    }

    @Test("questions with a picture that is past the limits of a stream are refused, and it is said so")
    func tooLarge() async throws {
        var form = Self.riddle
        form.enclosed = [
            EnclosedData("sha1+f24@bob.xmpp.org", type: "image/png", bytes: [UInt8](repeating: 1, count: 900_000))
        ]
        try await Self.run(form) { daemon in
            let failure = await daemon.failure("account.register", ["target": "example.org"])
            #expect(failure?.message.contains("more than 1048576 bytes") == true, "\(failure as Any)")
        }
    }

    @Test("of registrations that nobody ends, the oldest is given up")
    func desk() async throws {
        try await Self.run { daemon in
            var ids: [JSONValue] = []
            for _ in 0...RegistrationDesk.maximumOpen {
                ids.append(
                    try await daemon.call("account.register", ["target": "example.org"])["registration"] ?? .null)
            }
            #expect(
                await daemon.failure("account.register", ["target": "x", "registration": ids[0]])?.code == .notFound)
            for id in ids.dropFirst() {
                try await daemon.call("account.register", ["target": "x", "registration": id])
            }
        }
    }

    @Test(
        "one that nobody answers for an hour is given up, with its connection; each question and answer begins it anew")
    func abandoned() async throws {
        let clock = TestClock()
        try await DaemonHarness.run(options: Self.registering(), clock: clock) { daemon in
            let asked = try await daemon.call("account.register", ["target": "romeo@example.org"])
            let again: JSONObject = ["target": "x", "registration": asked["registration"] ?? .null]
            await clock.advance(by: RegistrationDesk.maximumWait - .seconds(1))
            try await daemon.call("account.register", again)
            await clock.advance(by: RegistrationDesk.maximumWait - .seconds(1))
            #expect(await daemon.server.openConnections == 1)
            await clock.advance(by: .seconds(1))
            try await Patience.wait(for: "the end of it") { await daemon.server.openConnections == 0 }
            let failure = await daemon.failure("account.register", again)
            #expect(failure?.code == .notFound && failure?.message.contains("begin anew") == true)
        }
    }

    @Test("an invitation of the server's leads to an account, once (XEP-0401, XEP-0445)")
    func invitations() async throws {
        try await Self.run(Self.oldForm("username", "password")) {
            $0.takesInvitations = true
            $0.makesInvitations = true
            $0.registersInvitedOnly = true
        } _: { daemon in
            let link = try await daemon.call("account.invite")
            #expect(link.string("by") == "server" && link.string("page")?.hasPrefix("https://") == true)
            #expect(link.string("expires")?.hasSuffix("Z") == true)
            let answers: JSONObject = [
                "target": link["uri"] ?? .null, "submit": true, "password": "x", "field": ["username=romeo"],
            ]
            #expect(try await daemon.call("account.register", answers).string("jid") == "romeo@example.org")
            #expect(try await daemon.server.roster(of: "juliet").map(\.jid.localpart) == ["romeo"])
            let again = await daemon.failure("account.register", answers)
            #expect(again?.exit == .notFound, "\(again as Any)")
            let named = try await daemon.call("account.invite", ["username": "tybalt"])
            #expect(named.string("uri")?.hasPrefix("xmpp:tybalt@example.org?register;preauth=") == true)
            let bad = await daemon.failure("account.invite", ["newAccount": true, "expire": 60])
            #expect(bad?.code == .badParameters)
        }
    }

    @Test("a server that does not tell who has access is named with what it lacks, and what to do instead (XEP-0494)")
    func noDevices() async throws {
        try await Self.run(nil) { daemon in
            for (method, params) in [("account.devices", [:]), ("account.revoke", ["id": ["a"]])]
                as [(String, JSONObject)]
            {
                let failure = await daemon.failure(method, params)
                #expect(failure?.exit == .refused && failure?.message.contains("XEP-0494") == true, "\(failure as Any)")
                #expect(failure?.message.contains("account passwd --at-server") == true)
            }
        }
    }

    @Test("programs are listed and lose their access; one that is not there, or knows the password, is told (XEP-0494)")
    func devices() async throws {
        try await Self.run(nil, { $0.managesClients = true }) { daemon in
            try await daemon.server.setClients(
                [
                    AccountClient(
                        "a", isConnected: true, lastSeen: DateTime("2026-01-02T03:04:05Z"),
                        authentication: ["password"],
                        permission: .unrestricted, software: "Gajim", device: "laptop"),
                    AccountClient("b", kind: .access, authentication: ["grant"]),
                ], of: "juliet")
            let devices = try await daemon.call("account.devices").objects("devices")
            #expect(devices.map { $0.string("id") } == ["a", "b"] && devices[0].bool("connected") == true)
            #expect(devices[0].string("lastSeen") == "2026-01-02T03:04:05.000Z" && devices[1]["lastSeen"] == nil)
            #expect(await daemon.failure("account.revoke", ["id": ["b", "c"]])?.exit == .notFound)
            #expect(try await daemon.call("account.revoke", ["id": ["b"]])["revoked"] == ["b"])
            let kept = await daemon.failure("account.revoke", ["id": ["a"]])
            #expect(kept?.exit == .refused && kept?.message.contains("account passwd --at-server") == true)
            #expect(try await daemon.call("account.devices").objects("devices").count == 1)
        }
    }

    @Test("who was invited is let in by the daemon that made the invitation, once and in time (XEP-0379 §3.4, §6.2)")
    func welcome() async throws {
        try await LastingHarness.run(["juliet": "secret", "nurse": "secret"]) { daemon in
            for name in ["juliet", "nurse"] { try await daemon.call("connect", account: name) }
            let link = try await daemon.call("account.invite", ["expire": 3_600], account: "nurse")
            #expect(link.string("by") == "client" && link.string("page") == nil)
            let uri = try #require(link["uri"])
            #expect(uri.stringValue?.hasPrefix("xmpp:nurse@example.org?roster;preauth=") == true)
            let result = try await daemon.call("sub.request", ["jid": uri])
            #expect(result.string("jid") == "nurse@example.org")
            for name in ["juliet", "nurse"] {
                _ = try await daemon.server.firstRecord {
                    $0.direction == .toClient && $0.account?.localpart == name
                        && $0.element.firstChild("query", namespace: Namespace.roster)?.children.first?["subscription"]
                            == "both"
                }
            }
            let roster = try await daemon.server.roster(of: "nurse")
            #expect(roster.map(\.subscription) == [.both] && roster.first?.name == nil, "no name of the other's choice")
            // Used up: what the file holds lets nobody in any more.
            let file = "\(daemon.folder)/.local/state/jabberctl/invitations/nurse.json"
            let contents = try #require(try PrivateFile.read(file))
            #expect(contents.mode & 0o077 == 0)
            #expect(String(decoding: contents.bytes, as: UTF8.self).contains("preauth") == false)
            #expect(try JSONReader.read(contents.bytes)["open"]?.arrayValue?.isEmpty == true)
        }
    }

    @Test("a request with a token that nobody knows waits for its answer like any other (XEP-0379 §4.1)")
    func unknownTokens() async throws {
        try await LastingHarness.run(["juliet": "secret", "nurse": "secret"]) { daemon in
            for name in ["juliet", "nurse"] { try await daemon.call("connect", account: name) }
            let uri: JSONValue = "xmpp:nurse@example.org?roster;preauth=made-up"
            #expect(try await daemon.call("sub.request", ["jid": uri]).string("ask") == "subscribe")
            let waiting = try await daemon.call("sub.pending", account: "nurse").objects("requests")
            #expect(waiting.map { $0.string("jid") } == ["juliet@example.org"])
            #expect(await daemon.failure("sub.request", ["jid": "xmpp:nurse@example.org?message"])?.exit == .badData)
        }
    }

    @Test("a password is changed at the server and used from then on; the account is removed (XEP-0077 §3.2, §3.3)")
    func ownAccount() async throws {
        try await Self.run { daemon in
            let changed = try await daemon.call(MethodTable.changePasswordMethod, ["password": "balcony"])
            #expect(changed == ["api": 1, "account": "juliet@example.org"])
            let stream = XMPPStream(try await daemon.server.configuration(for: "juliet", password: "balcony"))
            try await stream.connect()
            await stream.disconnect()
            let removed = try await daemon.call(MethodTable.unregisterMethod, ["field": []])
            #expect(removed == changed)
            #expect(await !daemon.server.hasAccount("juliet"))
        }
        try await Self.run(nil) { daemon in
            let failure = await daemon.failure(MethodTable.changePasswordMethod, ["password": "balcony"])
            #expect(failure?.exit == .refused && failure?.message.contains("the password was not changed") == true)
        }
    }
}
