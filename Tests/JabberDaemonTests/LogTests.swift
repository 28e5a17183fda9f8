// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPP

@testable import JabberDaemon

@Suite("What the daemon writes on standard error")
struct LogTests {
    @Test("a line tells when it was written where nobody else does, and is one line in any case")
    func line() {
        let entry = StreamLogEntry(.step, "first\nsecond\u{1b}[31m")
        let text = "jabberctld: first\\u{a}second\\u{1b}[31m\n"
        #expect(Log.line(entry, at: nil) == text)
        #expect(Log.line(entry, at: DateTime("2026-01-02T03:04:05.678Z")) == "2026-01-02T03:04:05.678Z " + text)
    }
}
