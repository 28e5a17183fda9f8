// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPPCore

extension LoopbackServer {
    /// Bytes that may wait for one client before ``flood(_:with:)`` makes more; 4 MiB.
    static let maximumFloodBytes = 4 * 1_048_576

    /// Sends bytes into the streams of an account's clients, made as the clients take them, so that a flood of any size
    /// needs little memory here.
    ///
    /// - Parameters:
    ///   - username: Whose clients.
    ///   - next: Makes the next piece; `nil` ends the flood.
    /// - Returns: Whether a client was there to the end.
    package func flood(_ username: String, with next: @Sendable () -> [UInt8]?) async -> Bool {
        while let bytes = next() {
            inject(bytes, into: username)
            while pendingBytes(of: username) ?? 0 > Self.maximumFloodBytes { await Pause.briefly() }
            if pendingBytes(of: username) == nil { return false }
        }
        return true
    }

    /// Bytes that wait for the clients of an account; `nil` when it has none.
    private func pendingBytes(of username: String) -> Int? {
        sessions.values.filter { $0.address?.localpart == username && $0.phase != .ended }
            .map(\.transport.pendingBytes).max()
    }
}
