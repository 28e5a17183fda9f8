// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// What a process with secrets in its memory does before anything else.
enum Hardening {
    /// No core file, no debugger of the same user, files for nobody else, and a peer that is gone is an error, not a signal.
    static func apply() {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        makeUndumpable()
        umask(0o077)
        signal(SIGPIPE, SIG_IGN)
    }

    /// PR_SET_DUMPABLE with 0 (prctl(2)): no core dump, and `/proc/self/mem` is root's.
    private static func makeUndumpable() {
        // Swift does not import functions with variable arguments; the kernel's five words are what this one takes.
        typealias Control = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
        guard let address = dlsym(nil, "prctl") else { return }
        let control = unsafeBitCast(address, to: Control.self)
        // The number is the kernel's, the same on every machine (linux/prctl.h).
        let setDumpable: Int32 = 4
        _ = control(setDumpable, 0, 0, 0, 0)
    }
}
