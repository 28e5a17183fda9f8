// SPDX-License-Identifier: Apache-2.0

import Glibc
import SocketIO
import Testing

@Suite("Calls that are interrupted")
struct SystemCallTests {
    @Test("A call that a signal interrupts is made again (signal(7))", arguments: [0, 1, 5])
    func interrupted(_ times: Int) {
        var calls = 0
        let result = SystemCall.uninterrupted {
            calls += 1
            guard calls <= times else { return 7 }
            errno = EINTR
            return -1
        }
        #expect(result == 7 && calls == times + 1)
    }

    @Test(
        "A call that fails otherwise is not made again, and what it fails with is kept",
        arguments: [EMFILE, EIO, ENOENT])
    func failing(_ code: Int32) {
        var calls = 0
        let result = SystemCall.uninterrupted {
            calls += 1
            errno = code
            return -1
        }
        #expect(result == -1 && calls == 1 && errno == code)
    }
}
