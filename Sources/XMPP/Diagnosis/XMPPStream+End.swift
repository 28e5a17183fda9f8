// SPDX-License-Identifier: Apache-2.0

extension XMPPStream {
    /// Waits until the stream is over.
    ///
    /// - Returns: Why it ended; `nil` when this side closed it.
    package func end() async -> XMPPError? {
        await waitForEnd()
        return disconnection
    }
}
