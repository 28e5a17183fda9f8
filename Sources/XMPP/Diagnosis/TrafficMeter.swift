// SPDX-License-Identifier: Apache-2.0

internal import SocketIO

/// Counts what goes over the streams of an account; shared by those that come one after another.
package final class TrafficMeter: Sendable {
    /// How much it was so far.
    package struct Reading: Hashable, Sendable {
        /// Bytes of XML that came, behind TLS.
        package var bytesReceived: UInt64 = 0
        /// Bytes of XML that were handed to the connection.
        package var bytesSent: UInt64 = 0
        /// Stanzas that came.
        package var stanzasReceived: UInt64 = 0
        /// Stanzas that were handed to the connection.
        package var stanzasSent: UInt64 = 0
        /// How many pings to the own server have come back.
        package var roundTrips: UInt64 = 0
        /// How long the last of them took; `nil` before the first.
        package var lastRoundTrip: Duration?
    }

    private let state = Locked(Reading())

    /// Makes one that has counted nothing.
    package init() {}

    /// What was counted so far.
    package var reading: Reading { state.withLock { $0 } }

    /// Counts something.
    package func count(_ change: @Sendable (inout Reading) -> Void) {
        state.withLock { change(&$0) }
    }
}
