// SPDX-License-Identifier: Apache-2.0

internal import Dispatch

/// Work that blocks, away from the threads that tasks share.
enum Background {
    /// Runs `work` on a queue of its own kind and waits for it.
    static func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: work()) }
        }
    }
}
