// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// How many files a process may have open. With too few of them the platform's event loop ends the process without a
/// word.
package enum OpenFiles {
    /// The least number that a program of ours begins with: 32.
    package static let minimumFiles = 32

    /// Makes sure that there is room for the event loop, a connection and what comes with it; raises the process's own
    /// limit as far as that is allowed.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/inputOutput`` when there is no room, with what to do.
    package static func makeRoom() throws(ControlError) {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < rlim_t(minimumFiles) else { return }
        let allowed = limit.rlim_cur
        limit.rlim_cur = min(limit.rlim_max, rlim_t(minimumFiles))
        guard limit.rlim_cur >= rlim_t(minimumFiles), setrlimit(resource, &limit) == 0 else {
            throw ControlError(
                .inputOutput,
                "only \(allowed) files may be open at a time, at least \(minimumFiles) are needed; see: ulimit -n")
        }
    }
}
