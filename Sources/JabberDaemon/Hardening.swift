// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import JabberControl

/// What the daemon does before anything else.
enum Hardening {
    /// How many pools the C library's allocator has, as it has one for each thread otherwise, up to eight for each
    /// processor; 2. Threads come and go here, and each left in another pool what the next one cannot use.
    private static let maximumArenas: Int32 = 2

    /// No core file, no debugger of the same user, files for nobody else, and a peer that is gone is an error, not a
    /// signal. Memory that is free is used again.
    static func apply() {
        MemoryProtection.apply()
        limitArenas()
        umask(0o077)
        signal(SIGPIPE, SIG_IGN)
    }

    /// Says so to the allocator (`mallopt`). Swift's module of the C library leaves the function out; a library without
    /// it, or without such pools, needs it not.
    private static func limitArenas() {
        typealias Function = @convention(c) (Int32, Int32) -> Int32
        // M_ARENA_MAX of <malloc.h>.
        let parameter: Int32 = -8
        guard let symbol = dlsym(nil, "mallopt") else { return }
        _ = unsafeBitCast(symbol, to: Function.self)(parameter, maximumArenas)
    }
}
