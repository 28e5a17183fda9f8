// SPDX-License-Identifier: Apache-2.0

internal import SocketIO

/// Ports of 127.0.0.1 for servers that have to be told theirs.
///
/// They lie below those that the system gives to whoever asks for any (from 32768 on, ip-sysctl's
/// `ip_local_port_range`): until the server listens, no connection and no other listener gets one by chance. A process
/// gives out none twice.
enum FreePorts {
    private static let range: ClosedRange<UInt16> = 10_240...32_000
    private static let maximumAttempts = 1_000
    private static let given = Locked<Set<UInt16>>([])

    /// A port that nobody listens on.
    ///
    /// - Throws: ``TestSupportError`` when none is found.
    static func take() throws(TestSupportError) -> UInt16 {
        for _ in 0..<maximumAttempts {
            let port = UInt16.random(in: range)
            guard given.withLock({ $0.insert(port).inserted }) else { continue }
            if (try? ListeningSocket(.loopback(port: port), on: StreamExecutor())) != nil { return port }
        }
        throw TestSupportError("no free port from \(range.lowerBound) to \(range.upperBound)")
    }
}
