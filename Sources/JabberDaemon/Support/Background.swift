// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import SocketIO

/// Work that blocks, away from the threads that tasks share.
enum Background {
    /// Runs `work` on a queue of its own kind and waits for it.
    static func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        let outcome = Handover<Value>()
        DispatchQueue.global().async { outcome.give(work()) }
        return await outcome.value()
    }
}
