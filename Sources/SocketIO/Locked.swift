// SPDX-License-Identifier: Apache-2.0

package import Glibc

/// A value that is only reached while its lock is held: the one lock of this package.
///
/// Used as `Synchronization.Mutex` is, and as strict: what is not `Sendable` can neither be left in the value nor taken
/// out of it while somebody else holds it too. `Mutex` itself does not do here: on Linux it waits on a futex inside of
/// the standard library, which is not built with the thread sanitizer, so that the sanitizer reports a race wherever a
/// `Mutex` is what prevents it. It knows this lock, `pthread_mutex_t`; so each of its reports is worth reading.
///
/// Not recursive: a body that locks the same value waits for ever. Hold it for as long as it takes to change the value,
/// and call nobody meanwhile.
///
/// Unchecked: ``value`` is read and written by the thread that holds ``mutex``, and by `init` and `deinit`, which have
/// no company; what enters and leaves is `sending`.
package final class Locked<Value: ~Copyable>: @unchecked Sendable {
    /// The lock. In memory of its own: it may not move.
    @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
    /// What it protects.
    @usableFromInline let value: UnsafeMutablePointer<Value>

    /// Puts a value behind a new lock.
    ///
    /// - Parameter value: The value; the caller keeps no part of it that is not `Sendable`.
    package init(_ value: consuming sending Value) {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        let status = pthread_mutex_init(mutex, nil)
        precondition(status == 0, "pthread_mutex_init failed with \(status)")
        self.value = .allocate(capacity: 1)
        self.value.initialize(to: value)
    }

    deinit {
        // The last release comes after every use, by a counter in the uninstrumented runtime. This shows it to the
        // sanitizer.
        lock()
        unlock()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
        value.deinitialize(count: 1)
        value.deallocate()
    }

    /// Runs `body` with the value while the lock is held; waits until it is free.
    ///
    /// - Parameter body: What to do with the value: short, and without a call to anybody who might come back.
    /// - Returns: What `body` returned.
    /// - Throws: What `body` threw.
    @inlinable
    package func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        lock()
        defer { unlock() }
        return try body(&value.pointee)
    }

    @usableFromInline
    func lock() {
        let status = pthread_mutex_lock(mutex)
        precondition(status == 0, "pthread_mutex_lock failed with \(status)")
    }

    @usableFromInline
    func unlock() {
        let status = pthread_mutex_unlock(mutex)
        precondition(status == 0, "pthread_mutex_unlock failed with \(status)")
    }
}
