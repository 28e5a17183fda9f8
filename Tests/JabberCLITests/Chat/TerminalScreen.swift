// SPDX-License-Identifier: Apache-2.0

import Foundation
import SocketIO
import XMPPTestSupport

/// A terminal in which a person uses programs: tmux keeps its screen as a terminal shows it.
final class TerminalScreen: Sendable {
    private let socket: String
    private let folder: TestFolder

    /// Runs a script of the shell in a new terminal; `$0` is the tool. When it has ended the terminal says `rc` and its
    /// exit code, and `as before` when the terminal's mode is what it was.
    init(
        _ script: String, _ variables: [String: String], columns: Int = 60, rows: Int = 20, in folder: TestFolder
    ) async throws {
        self.folder = folder
        socket = folder.path + "/tmux"
        try folder.write(
            """
            trap : INT
            stty -a >"$HOME/before"
            \(script)
            code=$?
            stty -a >"$HOME/after"
            echo "rc $code"
            cmp -s "$HOME/before" "$HOME/after" && echo "as before"
            exec sleep 600
            """, to: "script")
        var variables = variables
        variables["TERM"] = "screen-256color"
        _ = try await tmux(
            ["new-session", "-d", "-x", "\(columns)", "-y", "\(rows)", "/bin/sh \(folder.path)/script"], variables)
    }

    @discardableResult
    private func tmux(_ words: [String], _ variables: [String: String] = [:]) async throws -> String {
        var environment = ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": folder.path]
        environment.merge(variables) { _, new in new }
        return try await FinishedProgram.run(
            ["/usr/bin/tmux", "-S", socket, "-f", "/dev/null"] + words, environment: environment
        ).output
    }

    /// Presses keys: text, or names such as `Enter` and `C-d`.
    func press(_ keys: String...) async throws {
        for key in keys { try await tmux(["send-keys", key]) }
    }

    /// Types text as it is.
    func type(_ text: String) async throws {
        try await tmux(["send-keys", "-l", text])
    }

    /// Gives the terminal another size.
    func resize(columns: Int, rows: Int) async throws {
        try await tmux(["resize-window", "-x", "\(columns)", "-y", "\(rows)"])
    }

    /// The lines of the screen as they are, without empty ones.
    func lines() async throws -> [String] {
        try await tmux(["capture-pane", "-p"]).split(separator: "\n").map { line in
            String(line.reversed().drop { $0 == " " }.reversed())
        }.filter { !$0.isEmpty }
    }

    /// Waits until the screen is as wanted.
    func wait(for what: String, _ matches: @escaping @Sendable ([String]) -> Bool) async throws {
        let last = Locked<[String]>([])
        do {
            try await Patience.wait(for: what) { [self] in
                let lines = try await lines()
                last.withLock { $0 = lines }
                return matches(lines)
            }
        } catch {
            throw TestSupportError("\(what) did not come; the screen: \(last.withLock { $0 })")
        }
    }

    /// Ends the programs.
    func end() async throws {
        try await tmux(["kill-server"])
    }
}
