// SPDX-License-Identifier: Apache-2.0

package import XMPPCore
package import XMPPXML

/// How far a stream has come on its way to a session, for those who examine the way.
package enum StreamMilestone: Sendable, Hashable {
    /// The places to try, in order.
    case resolved([StreamPlace])
    /// A connection to one of them is open.
    case connected(StreamPlace)
    /// TLS is up and the certificate proves the domain.
    case secured(ChannelSecurity)
    /// The server said what it offers: before TLS, before authentication and after it.
    case offered(StreamFeatures)
    /// Authentication succeeded with this mechanism.
    case authenticated(mechanism: String)
    /// The session is established.
    case established(JID)
    /// The server sends the login on to another place (RFC 6120 §4.9.3.19), which is tried next.
    case redirected(StreamPlace)
    /// A place could not be used; the next one is tried.
    case failed(StreamPlace, XMPPError)
}

/// A place where a domain's service may be.
public struct StreamPlace: Sendable, Hashable, CustomStringConvertible {
    /// How a stream gets there.
    public enum Way: String, Sendable, Hashable {
        /// TCP, and TLS when the stream asks for it (RFC 6120 §5).
        case startTLS = "STARTTLS"
        /// TLS comes before the stream (XEP-0368).
        case directTLS = "direct TLS"
        /// A web server (RFC 7395).
        case webSocket = "WebSocket"
    }

    /// `host:port`, or the address of a WebSocket.
    public var endpoint: String
    /// How a stream gets there.
    public var way: Way

    /// Names a place.
    package init(endpoint: String, way: Way) {
        self.endpoint = endpoint
        self.way = way
    }

    /// The endpoint, and how it is secured.
    public var description: String {
        "\(endpoint) (\(way.rawValue))"
    }
}

/// Hears synchronously, on the stream's executor and in order, what a stream does. Must not block and must not call
/// back.
///
/// Delegates and sequences hear of events a moment later, on their own tasks; who answers "what is known now that the
/// ping has come back" needs to have heard of everything before it.
package struct StreamObserver: Sendable {
    /// Called with each event, before it is published.
    package var event: @Sendable (XMPPEvent) -> Void
    /// Called with each step of connecting.
    package var milestone: @Sendable (StreamMilestone) -> Void
    /// Asked before each stanza whether somebody still has a use for it. From the first `false` on no stanza is
    /// acknowledged on that stream, so that the server keeps what nobody has seen (XEP-0198 §4).
    package var takesStanzas: @Sendable () -> Bool

    /// Called with each message and each request for a subscription that is to be kept, in the form in which the
    /// stream's store will get it, after its events.
    package var kept: @Sendable (Element) -> Void
    /// Called with each of those that the store can never keep, and why; it counts as handled all the same.
    package var unkeepable: @Sendable (Element, any Error) -> Void

    /// Makes an observer.
    package init(
        event: @escaping @Sendable (XMPPEvent) -> Void = { _ in },
        kept: @escaping @Sendable (Element) -> Void = { _ in },
        unkeepable: @escaping @Sendable (Element, any Error) -> Void = { _, _ in },
        milestone: @escaping @Sendable (StreamMilestone) -> Void = { _ in },
        takesStanzas: @escaping @Sendable () -> Bool = { true }
    ) {
        self.event = event
        self.kept = kept
        self.unkeepable = unkeepable
        self.milestone = milestone
        self.takesStanzas = takesStanzas
    }
}
