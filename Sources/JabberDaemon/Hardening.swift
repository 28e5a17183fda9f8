// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import JabberControl

/// What the daemon does before anything else.
enum Hardening {
    /// No core file, no debugger of the same user, files for nobody else, and a peer that is gone is an error, not a signal.
    static func apply() {
        MemoryProtection.apply()
        umask(0o077)
        signal(SIGPIPE, SIG_IGN)
    }
}
