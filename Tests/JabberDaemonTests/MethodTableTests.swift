// SPDX-License-Identifier: Apache-2.0

import JabberControl
import Testing
import XMPPTestSupport

@testable import JabberDaemon

@Suite("The table of commands and the daemon")
struct MethodTableTests {
    @Test("The daemon has every method of the table, and no other")
    func methods() {
        let promised = Set(MethodTable.commands.filter { $0.isMethod }.map(\.method))
        #expect(Set(MethodService.methods.keys) == promised.union(MethodTable.otherMethods.map(\.name)))
    }

    @Test(
        "What the schema does not promise is found: a wrong type, word, number or time, a missing key, one too many",
        arguments: [
            ("ping.result", ["api": 1, "account": "a@b", "jid": "b", "roundTrips": [1, 2.5]], nil),
            ("ping.result", ["api": "1"], "ping.result.api is no integer"),
            ("ping.result", ["roundTrips": ["1"]], "ping.result.roundTrips[0] is no number"),
            ("ping.result", ["pong": true], "ping.result has a key pong"),
            ("ping.params", ["count": 0], "ping.params.count is 0.0"),
            ("send.params", ["to": ["a@b"]], "send.params has no text"),
            ("send.params", ["to": ["a@b"], "text": "x", "until": "ever"], "send.params.until is \"ever\""),
            ("listen.event", ["type": "message", "at": "yesterday"], "listen.event.at: time is yesterday"),
            ("online.event", ["contacts": [["jid": 5]]], "online.event: online.result.contacts[0].jid is no string"),
            ("error", ["code": "x", "exit": 1], "error has no retry"), ("nonsense", [:], "there is no nonsense"),
            ("session.password.params", ["session": [:], "password": "x", "token": "y"], nil),
            ("session.password.params", ["password": 5], "session.password.params.password is no string"),
            ("account.change-password.params", ["password": "x", "field": ["a=b"], "timeout": 5], nil),
            ("account.change-password.params", ["field": ["a=b"]], "account.change-password.params has no password"),
            (
                "account.change-password.params", ["password": "x", "field": "a=b"],
                "account.change-password.params.field"
            ),
            ("account.change-password.result", ["api": 1, "account": "me"], nil),
            (
                "account.change-password.result", ["api": 1, "password": "x"],
                "account.change-password.result has a key"
            ),
            ("account.unregister.params", ["session": [:], "field": ["a=b"]], nil),
            ("account.unregister.params", ["field": [1]], "account.unregister.params.field[0] is no string"),
            ("account.unregister.result", ["account": 1], "account.unregister.result.account is no string"),
        ] as [(String, JSONObject, String?)])
    func schema(_ definition: String, _ value: JSONObject, _ fault: String?) {
        let faults = SchemaCheck.controlProtocol.faults(in: .object(value), as: definition)
        if let fault {
            #expect(faults.count == 1 && faults.first?.hasPrefix(fault) == true, "\(faults)")
        } else {
            #expect(faults == [])
        }
    }

    @Test("A method that does not exist is refused")
    func unknown() async throws {
        try await DaemonHarness.run { daemon in
            #expect(await daemon.failure("room.paint")?.code == .unknownMethod)
        }
    }

    @Test(
        "A parameter of the wrong kind is named",
        arguments: [
            ("online", ["settle": "soon"]), ("online", ["settle": 5001]), ("online", ["all": 1]),
            ("send", ["to": "romeo@example.org", "text": "x"]), ("send", ["text": "x"]),
            ("send", ["to": ["romeo@example.org"], "text": ""]),
            ("send", ["to": ["romeo@example.org"], "text": "x", "type": "shout"]),
            ("listen", ["kind": ["weather"]]), ("ping", ["count": 0]), ("presence.set", [:]),
            ("presence.set", ["show": "busy"]), ("presence.set", ["show": "away", "priority": 128]),
            ("roster.rename", ["jid": "romeo@example.org"]), ("roster.add", [:]), ("raw", [:]),
            ("ping", ["session": "juliet"]), ("ping", ["timeout": -1]),
        ] as [(String, JSONObject)])
    func badParameters(_ method: String, _ params: JSONObject) async throws {
        try await DaemonHarness.run { daemon in
            let error = await daemon.failure(method, params, timeout: params["timeout"] == nil ? 10 : nil)
            #expect(error?.code == .badParameters)
            #expect(await daemon.server.openConnections == 0, "nothing is asked of the server")
        }
    }
}
