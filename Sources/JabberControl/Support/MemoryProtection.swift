// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// What a process with secrets in its memory does before it reads the first of them.
package enum MemoryProtection {
    /// No core file, whatever ends the process, no look into its memory by other programs of the same user, and no
    /// report of a crash that shows some of it.
    package static func apply() {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        makeUndumpable()
        // What Swift's runtime prints upon these includes the memory that the registers point to.
        for number in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] { signal(number, SIG_DFL) }
    }

    /// PR_SET_DUMPABLE with 0 (prctl(2)): no core dump, not even to a handler, and `/proc/PID/mem` is root's.
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
