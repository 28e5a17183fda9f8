// SPDX-License-Identifier: Apache-2.0

internal import SocketIO

/// Somebody who waits for an element to pass.
struct LoopbackWatcher {
    /// Whether this is the one.
    let matches: (LoopbackRecord) -> Bool
    /// Resumed once, when the watcher leaves the table.
    let continuation: CheckedContinuation<LoopbackRecord?, Never>
    let timer: any ScheduledTimer

    /// Wakes with what was found, or with nothing.
    func end(_ record: LoopbackRecord? = nil) {
        timer.cancel()
        continuation.resume(returning: record)
    }
}
