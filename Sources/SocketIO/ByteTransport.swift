// SPDX-License-Identifier: Apache-2.0

/// What a transport tells its owner, in the order in which it happened.
package enum TransportEvent: Sendable, Equatable {
    /// Bytes that arrived; never empty.
    case received([UInt8])
    /// The write queue fell below its low-water mark after it had been above the high-water mark.
    case drained
    /// The peer ended its side in the way the protocol of this transport foresees (FIN, or TLS close_notify and FIN).
    ///
    /// Sent at most once. Nothing is received afterwards; sending may still work until ``closed``.
    case endOfInput
    /// The transport is gone. Sent exactly once, last; `nil` when this side closed it.
    case closed(TransportError?)
}

/// Why a transport ended.
package struct TransportError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure.
    package enum Code: Sendable, Equatable {
        /// The peer reset the connection, or the network is gone.
        case connectionLost
        /// The bytes ended without the closure alert that TLS requires: the last of them may have been cut off.
        case truncated
        /// TLS refused: the peer's bytes or certificate.
        case tls
        /// The peer broke the rules of what keeps its messages apart.
        case violation
        /// The peer was refused, or did not answer in time.
        case timedOut
        /// Any other system error.
        case system
    }

    /// The kind of failure.
    package var code: Code
    /// What happened, for people: names and numbers, no secrets.
    package var description: String

    /// Makes an error.
    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}

/// Moves bytes between a stream and its peer: the seam between protocol and network.
///
/// A transport belongs to one ``StreamExecutor``. Every method must be called on that executor's queue and every event
/// is delivered on it, synchronously and in order; implementations check with `dispatchPrecondition`. This confinement
/// is what makes the conforming classes `Sendable`.
package protocol ByteTransport: AnyObject, Sendable {
    /// The executor whose queue this transport is confined to.
    var executor: StreamExecutor { get }

    /// Bytes accepted by ``send(_:)`` and not yet handed to the system.
    var pendingBytes: Int { get }

    /// How often something came after something had been sent: round trips, where one side waits for the other.
    var roundTrips: Int { get }

    /// Where the connection goes, where that is the peer itself; `nil` through a proxy, or when the system does not
    /// tell.
    var peerAddress: SocketAddress? { get }

    /// Whether the peer is on this machine's loopback interface, so that nobody on the way can read along.
    var peerIsLoopback: Bool { get }

    /// Begins to deliver events. Called once; nothing that arrived earlier is lost.
    func start(_ handler: @escaping @Sendable (TransportEvent) -> Void)

    /// Replaces the handler given to ``start(_:)``, for a layer that takes the transport over (STARTTLS).
    func replaceHandler(_ handler: @escaping @Sendable (TransportEvent) -> Void)

    /// Queues bytes. Never blocks and never fails: a failure arrives as ``TransportEvent/closed(_:)``.
    func send(_ bytes: [UInt8])

    /// Sends what the peer passes over, so that nobody in between takes the connection for dead: a space, unless the
    /// protocol of this transport has something of its own.
    func keepAlive()

    /// Stops reading from the peer, so that its flow control takes hold. May be called when already paused.
    func pauseReading()

    /// Reads again. May be called when not paused.
    func resumeReading()

    /// Writes what is queued, says goodbye as the protocol of this transport asks, then closes. Idempotent.
    ///
    /// A transport whose peer does not take the bytes closes after a while all the same.
    func close()

    /// Closes now; what is queued is dropped. Idempotent.
    func abort()
}

extension ByteTransport {
    /// Nobody tells.
    package var peerAddress: SocketAddress? { nil }

    /// None, where nobody counts.
    package var roundTrips: Int { 0 }

    /// A space (RFC 6120 §4.6.1).
    package func keepAlive() { send([0x20]) }
}
