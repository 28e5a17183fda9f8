// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A program that runs on a terminal of its own, as if a person sat there.
final class PseudoTerminal {
    struct Failure: Error {
        var what: String
    }

    /// `TIOCSPTLCK` and `TIOCGPTN` of Linux, `POSIX_SPAWN_SETSID` of glibc.
    private static let unlock: UInt = 0x4004_5431
    private static let getNumber: UInt = 0x8004_5430
    private static let ownSession: Int16 = 0x80

    private let master: Int32
    private var processID: pid_t = 0
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
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // The first terminal that the leader of a session opens becomes its controlling terminal.
        posix_spawn_file_actions_addopen(&actions, 0, name, O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, 0, 1)
        posix_spawn_file_actions_adddup2(&actions, 0, 2)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawnattr_setflags(&attributes, Self.ownSession)
        var arguments = words.map { strdup($0) } + [nil]
        var environment = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for pointer in arguments + environment { free(pointer) } }
        guard posix_spawn(&processID, words[0], &actions, &attributes, &arguments, &environment) == 0 else {
            throw Failure(what: "\(words[0]) does not start")
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
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
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
