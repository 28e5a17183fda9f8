// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import SocketIO

/// A lock that says who uses a file of the state folder. The lock's file stays: removing it would let two processes
/// hold the lock of two files with the same name.
package enum StateLock {
    /// Takes a lock, without waiting. The folder is made when missing.
    ///
    /// - Parameter path: The file of the lock.
    /// - Returns: What holds the lock for as long as it lives; `nil` when another process has it, or when there can be
    ///   no such file.
    package static func take(_ path: String) -> Descriptor? {
        guard (try? PrivateFile.makeFolder(PrivateFile.folder(of: path))) != nil else { return nil }
        let number = SystemCall.uninterrupted {
            open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0o600)
        }
        guard number >= 0 else { return nil }
        let lock = Descriptor(owning: number)
        return SystemCall.uninterrupted { flock(number, LOCK_EX | LOCK_NB) } == 0 ? lock : nil
    }
}
