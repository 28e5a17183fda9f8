// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import JabberControl
internal import XMPP

/// The streams' log on standard error.
enum Log {
    /// Writes an entry as one line that no terminal can act upon.
    static func write(_ entry: StreamLogEntry) {
        let line = "jabberctld: \(printable(entry.text))\n"
        try? FileDescriptor(STDERR_FILENO).writeAll(Array(line.utf8), name: "standard error")
    }

    /// The text with control, format and unassigned characters shown as `\u{hex}`.
    static func printable(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator:
                result.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
            default:
                result.append(scalar)
            }
        }
        return String(result)
    }
}
