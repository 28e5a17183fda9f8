// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Calls to the operating system that a signal, or a debugger, may interrupt before they have done anything (`EINTR`,
/// signal(7)).
package enum SystemCall {
    /// Makes a call, and makes it again as long as it is interrupted. Not for close(2), which has closed all the same,
    /// nor for waits with a time limit, which would begin anew.
    ///
    /// - Parameter call: The call; it gives less than 0 when it has failed, and `errno` says why.
    /// - Returns: What the last call gave. `errno` is that call's.
    package static func uninterrupted(_ call: () -> Int32) -> Int32 {
        while true {
            let result = call()
            guard result < 0, errno == EINTR else { return result }
        }
    }
}
