// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import JabberControl
internal import XMPP

/// The streams' log on standard error.
enum Log {
    /// Writes an entry as one line that no terminal can act upon.
    static func write(_ entry: StreamLogEntry) {
        let line = "jabberctld: \(TerminalText.line(entry.text))\n"
        try? FileDescriptor(STDERR_FILENO).writeAll(Array(line.utf8), name: "standard error")
    }
}
