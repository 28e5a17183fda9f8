// SPDX-License-Identifier: Apache-2.0

import Foundation
import JabberControl
import SocketIO
import Testing

@testable import JabberCLI

@Suite("Starting a daemon", .timeLimit(.minutes(5)))
struct LauncherTests {
    let folder: TestFolder

    init() throws {
        folder = try TestFolder()
    }

    /// A daemon as a shell script, which greets and answers one request with what it sees of its surroundings.
    func script(_ answer: String = #"'{"args":"'"$*"'","password":"'"$JABBERCTL_PASSWORD"'","home":"'"$HOME"'"}'"#)
        throws -> String
    {
        try folder.write(
            """
            #!/bin/sh
            echo 'this must not reach standard output' >/dev/null
            printf '{"jsonrpc":"2.0","method":"hello","params":{"product":"fake","version":"1","api":{"min":1,"max":1},"instance":"x"}}\\n' >&3
            read -r line <&3
            printf '{"jsonrpc":"2.0","id":1,"result":%s}\\n' \(answer) >&3
            read -r line <&3
            echo ended >"$HOME/ended"

            """, to: "fake", mode: 0o755)
        return folder.path + "/fake"
    }

    func launcher(_ program: String) -> Launcher {
        Launcher(
            paths: RuntimePaths(environment: ["HOME": folder.path]),
            variables: [
                "JABBERCTLD": program, "JABBERCTL_PASSWORD": "geheim", "HOME": folder.path, "PATH": "/usr/bin:/bin",
            ])
    }

    @Test("a private daemon gets descriptor 3 and our variables but no password, and has ended afterwards")
    func privateDaemon() async throws {
        let connection = try await launcher(script()).connect(DaemonChoice(socket: nil, isPrivate: true, verbosity: 2))
        #expect(connection.isPrivate)
        #expect(try await connection.client.hello().product == "fake")
        let answer = try await connection.client.call("x")
        #expect(answer == ["args": "--private --verbose --verbose", "password": "", "home": .string(folder.path)])
        await connection.finish(false)
        #expect(folder.text("ended") == "ended\n")
    }

    @Test("a daemon that ends at once, or is missing, is an error")
    func failures() async throws {
        try folder.write("#!/bin/sh\nexit 3\n", to: "fake", mode: 0o755)
        let connection = try await launcher(folder.path + "/fake").connect(
            DaemonChoice(socket: nil, isPrivate: true, verbosity: 0))
        await #expect(throws: ControlError.self) { _ = try await connection.client.hello() }
        await connection.finish(false)
        await #expect {
            _ = try await launcher("/no/such").connect(DaemonChoice(socket: nil, isPrivate: true, verbosity: 0))
        } throws: { ($0 as? ControlError)?.exit.rawValue == 3 }
    }

    @Test("a daemon that was asked for and does not run is exit code 3")
    func noSocket() async {
        await #expect {
            _ = try await launcher("/bin/false").connect(
                DaemonChoice(socket: folder.path + "/none.sock", isPrivate: false, verbosity: 0))
        } throws: {
            ($0 as? ControlError)?.code == .daemonNotRunning
        }
    }

    @Test("a stale socket of the usual place leads to a private daemon")
    func staleSocket() async throws {
        let paths = RuntimePaths(environment: ["HOME": folder.path])
        try folder.write("", to: String(paths.controlSocket.dropFirst(folder.path.count + 1)))
        let connection = try await launcher(script()).connect(DaemonChoice(socket: nil, isPrivate: false, verbosity: 0))
        #expect(connection.isPrivate)
        _ = try await connection.client.hello()
        await connection.finish(false)
    }

    @Test("times are shown as a person reads them")
    func localTime() throws {
        let then = "2026-01-02T03:04:05.678Z"
        let seconds = try #require(LocalTime.seconds(then))
        #expect(seconds == 1_767_323_045)
        #expect(LocalTime.text(then, now: seconds + 1).count == 5)
        #expect(LocalTime.text(then, now: seconds + 400_000).count == 16)
        for strange in [
            "", "yesterday", "2026-13-02T03:04:05Z", "2026-01-02T03:04:05.678+01:00", "2026-01-02 03:04:05.678Z",
        ] {
            #expect(LocalTime.text(strange) == strange)
        }
    }
}
