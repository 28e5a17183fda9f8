// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
public import XMPPCore
internal import XMPPProtocol
internal import XMPPXML

extension XMPPStream {
    /// Asks somebody for a sign of life (XEP-0199).
    ///
    /// An error answer is one too, unless it says that nobody is there: `remote-server-not-found`,
    /// `remote-server-timeout`, `recipient-unavailable`, `service-unavailable` of another entity, `item-not-found`.
    ///
    /// - Parameters:
    ///   - jid: Whom to ask; `nil` means the own server.
    ///   - timeout: How long to wait; default 30 s.
    /// - Returns: How long the answer took.
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``.
    @discardableResult
    public func ping(_ jid: JID? = nil, timeout: Duration = .seconds(30)) async throws(XMPPError) -> Duration {
        let start = configuration.clock.now
        let target = jid ?? configuration.jid.domain
        do {
            try await request(
                IQ(.get, to: target, payload: Element("ping", namespace: Namespace.ping)), timeout: timeout)
        } catch {
            // XEP-0199 §4.1: a server that does not know pings has answered all the same.
            let isOwnServer = target == configuration.jid.domain
            guard isOwnServer, error.stanzaError != nil else { throw error }
        }
        let time = configuration.clock.now - start
        if target == configuration.jid.domain {
            configuration.meter?.count { reading in
                reading.roundTrips += 1
                reading.lastRoundTrip = time
            }
        }
        return time
    }
}

extension StanzaRoutes {
    /// Answers pings. Those from strangers would tell them that the user is online (XEP-0199 §7).
    mutating func addPing() {
        add(
            .get, "ping", namespace: Namespace.ping, from: .contacts, feature: Namespace.ping,
            handler: .immediate { (_, _) throws(StanzaError) in nil })
    }
}
