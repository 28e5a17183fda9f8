// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
public import XMPPCore
internal import XMPPTransport
public import XMPPXML

/// One first-level element that passed between a ``LoopbackServer`` and a client; a stream header is an element
/// `stream` without children.
public struct LoopbackRecord: Sendable, Hashable {
    /// Which connection, counted from 1 in the order in which they were accepted.
    public let connection: Int
    /// Who was logged in on it at that time.
    public let account: JID?
    /// Who sent it.
    public let direction: LoopbackFault.Direction
    /// What was sent.
    public let element: Element
}

/// Where what happens on the network enters the server's actor.
///
/// The closures are called on the executor that the actor shares, so they enter it without a hop.
struct LoopbackMailbox: Sendable {
    /// Takes events of the transport.
    let events: @Sendable (TransportEvent) -> Void
    /// Takes the outcome of a TLS handshake.
    let handshake: @Sendable (Result<TLSProperties, TLSError>) -> Void
    /// Takes the outcome of a WebSocket handshake.
    let upgrade: @Sendable (Result<Void, WebSocketError>) -> Void
    /// Takes note that the session waits for another connection for some time.
    let hibernated: @Sendable (Duration) -> Void
    /// Takes note that the server has messages in its hands for some time.
    let holds: @Sendable (Duration) -> Void
    /// Takes note that the session is over.
    let ended: @Sendable (TransportError?) -> Void
}
