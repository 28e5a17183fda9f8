// SPDX-License-Identifier: Apache-2.0

import JabberControl
import Testing

@testable import JabberCLI

@Suite("Passwords", .timeLimit(.minutes(5)))
struct PasswordTests {
    /// Wants the password `secret` before it pings.
    static func daemon() -> FakeDaemon {
        let known = Known()
        return FakeDaemon([
            "session.password": { (request, _) throws(ControlError) in
                await known.set(request.params.string("password"))
                return [:]
            },
            "ping": { (_, _) throws(ControlError) in
                switch await known.password {
                case "secret": return ["roundTrips": []]
                case nil:
                    throw ControlError(.passwordNeeded, "no password for me@example.org", account: "me@example.org")
                default: throw ControlError(.authRefused, "refused")
                }
            },
        ])
    }

    private actor Known {
        var password: String?
        func set(_ password: String?) { self.password = password }
    }

    @Test("the terminal is asked when the daemon has no password, then the command runs")
    func prompt() async {
        let run = await jabberctl("ping", daemon: Self.daemon(), in: Surroundings(passwords: ["secret"]))
        #expect(run.code == 0 && run.errors == "Password for me@example.org: ")
        #expect(run.asked.map(\.method) == ["ping", "session.password", "ping"])
    }

    @Test("a wrong password is tried once")
    func wrong() async {
        let run = await jabberctl("ping", daemon: Self.daemon(), in: Surroundings(passwords: ["wrong", "secret"]))
        #expect(run.code == 77 && run.asked.count == 3)
        #expect(!run.errors.contains("wrong"))
    }

    @Test("without a terminal, or with --no-ask, the lack is an error")
    func noTerminal() async {
        #expect(await jabberctl("ping", daemon: Self.daemon()).code == 78)
        let run = await jabberctl("ping", "--no-ask", daemon: Self.daemon(), in: Surroundings(passwords: ["secret"]))
        #expect(run.code == 78 && run.errors == "jabberctl: no password for me@example.org\n")
    }

    @Test("--password-fd comes first and is handed over before the command")
    func descriptor() async {
        let run = await jabberctl(
            "--password-fd", "5", "--jid", "me@example.org", "ping", daemon: Self.daemon(),
            in: Surroundings(descriptors: [5: "secret\n"]))
        #expect(run.code == 0 && run.asked.map(\.method) == ["session.password", "ping"])
        #expect(run.asked.first?.params == ["session": ["jid": "me@example.org"], "password": "secret"])
        #expect(await jabberctl("--password-fd", "6", "ping", daemon: Self.daemon()).code == 74)
    }

    @Test("--token-fd is handed over before the command, with a password beside it or without")
    func tokenDescriptor() async {
        func daemon() -> FakeDaemon {
            FakeDaemon([
                "session.password": { (_, _) throws(ControlError) in [:] },
                "ping": { (_, _) throws(ControlError) in ["roundTrips": []] },
            ])
        }
        let descriptors = Surroundings(descriptors: [5: "secret\n", 6: "access\n"])
        let run = await jabberctl("--token-fd", "6", "ping", daemon: daemon(), in: descriptors)
        #expect(run.code == 0 && run.asked.map(\.method) == ["session.password", "ping"])
        #expect(run.asked.first?.params["token"] == "access" && run.asked.first?.params["password"] == nil)
        let both = await jabberctl("--token-fd", "6", "--password-fd", "5", "ping", daemon: daemon(), in: descriptors)
        #expect(both.asked.first?.params["token"] == "access" && both.asked.first?.params["password"] == "secret")
        #expect(!(both.output + both.errors).contains("access"))
        let one = await jabberctl("--token-fd", "5", "--password-fd", "5", "ping", daemon: daemon(), in: descriptors)
        #expect(one.code == 64 && one.asked.isEmpty)
    }

    @Test("JABBERCTL_PASSWORD is used before the terminal, with a warning that does not show it")
    func variable() async {
        let run = await jabberctl(
            "ping", daemon: Self.daemon(),
            in: Surroundings(variables: ["JABBERCTL_PASSWORD": "secret"], passwords: ["wrong"]))
        #expect(run.code == 0 && run.errors.contains("warning: JABBERCTL_PASSWORD") && !run.errors.contains("secret"))
    }

    @Test("no output of a dry run holds a password")
    func dryRun() async {
        let run = await jabberctl(
            "-n", "--password-fd", "5", "ping", daemon: Self.daemon(), in: Surroundings(descriptors: [5: "secret"]))
        #expect(run.asked.isEmpty && !run.output.contains("secret"))
    }
}
