// SPDX-License-Identifier: Apache-2.0

internal import Dispatch

/// Work that blocks its thread, such as waiting for another program, on a thread that nobody else needs.
///
/// The threads of the concurrency pool are as few as the processors: tests that block two of them let everything else
/// on a machine with two stand still, time limits of other tests included.
package enum BlockingWork {
    /// Does the work on a thread of its own.
    package static func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "xmpp-test-support.blocking").async { continuation.resume(returning: work()) }
        }
    }

    /// Does the work on a thread of its own; otherwise as ``run(_:)-(()->Value)``.
    package static func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await run { Result { try work() } }.get()
    }
}
