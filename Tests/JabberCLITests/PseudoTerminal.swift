// SPDX-License-Identifier: Apache-2.0

import Foundation
import SocketIO

/// A program that runs on a terminal of its own, as if a person sat there.
final class PseudoTerminal {
    struct Failure: Error {
        var what: String
    }

    /// `TIOCSPTLCK` and `TIOCGPTN` of Linux.
    private static let unlock: UInt = 0x4004_5431
    private static let getNumber: UInt = 0x8004_5430

    private let master: Int32
    private let processID: pid_t
    private(set) var seen: [UInt8] = []

    /// Starts a program with a new terminal as its input, output and controlling terminal.
    init(_ words: [String], variables: [String: String]) throws {
        // The C library's functions for this are not in Swift's Glibc module: these are the calls below them.
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var number: Int32 = 0
        guard master >= 0, ioctl(master, Self.unlock, &number) == 0, ioctl(master, Self.getNumber, &number) == 0 else {
            throw Failure(what: "no pseudo terminal")
        }
        let name = "/dev/pts/\(number)"
        processID = try ProgramStart.start(
            words, environment: variables.map { "\($0.key)=\($0.value)" }, own: .session
        ) { actions in
            // The first terminal that the leader of a session opens becomes its controlling terminal.
            posix_spawn_file_actions_addopen(&actions, 0, name, O_RDWR, 0)
            posix_spawn_file_actions_adddup2(&actions, 0, 1)
            posix_spawn_file_actions_adddup2(&actions, 0, 2)
        }
    }

    deinit {
        close(master)
    }

    /// Whether what is typed is shown.
    var isEchoing: Bool {
        var mode = termios()
        return tcgetattr(master, &mode) == 0 && mode.c_lflag & tcflag_t(ECHO) != 0
    }

    /// What the program has written so far.
    var text: String {
        String(decoding: seen, as: UTF8.self)
    }

    /// Types.
    func type(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(master, bytes, bytes.count)
    }

    /// Reads until the program has written some text, at most ten seconds.
    func wait(for text: String) throws {
        while !self.text.contains(text) {
            guard try readSome() else { throw Failure(what: "\"\(text)\" did not come, but: \(self.text)") }
        }
    }

    /// Reads until the program has ended.
    ///
    /// - Returns: Its exit code.
    func finish() throws -> Int32 {
        while try readSome() {}
        var status: Int32 = 0
        waitpid(processID, &status, 0)
        return ProgramStart.code(ofEnd: status)
    }

    private func readSome() throws -> Bool {
        var ready = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
        guard poll(&ready, 1, 10_000) > 0 else {
            kill(processID, SIGKILL)
            throw Failure(what: "nothing for ten seconds after: \(text)")
        }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(master, &buffer, buffer.count)
        if count > 0 { seen += buffer.prefix(count) }
        return count > 0
    }
}
