// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A value behind a lock that the thread sanitizer knows; it does not see how `Mutex` waits on Linux and reports races
/// that are none.
///
/// Unchecked: `value` is only touched while the lock is held.
final class Locked<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) {
        self.value = value
    }

    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try lock.withLock { try body(&value) }
    }
}
