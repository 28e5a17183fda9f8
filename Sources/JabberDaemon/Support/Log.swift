// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import JabberControl
internal import XMPP

/// The streams' log on standard error.
enum Log {
    /// Whether the lines go into a file, which has no times of its own: a journal has, and a person who watches a
    /// terminal needs none.
    private static let isFile: Bool = {
        var status = stat()
        return fstat(STDERR_FILENO, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }()

    /// An entry as one line that no terminal can act upon.
    ///
    /// - Parameters:
    ///   - entry: What happened.
    ///   - time: When; `nil` leaves it out.
    static func line(_ entry: StreamLogEntry, at time: DateTime?) -> String {
        let stamp = time.map { "\($0) " } ?? ""
        return "\(stamp)jabberctld: \(TerminalText.line(entry.text))\n"
    }

    /// Writes an entry.
    static func write(_ entry: StreamLogEntry) {
        let line = line(entry, at: isFile ? .now : nil)
        try? FileDescriptor(STDERR_FILENO).writeAll(Array(line.utf8), name: "standard error")
    }
}
