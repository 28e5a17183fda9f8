// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
package import XMPPXML

/// The way of those who have no account yet (XEP-0077 §3.1.1): as far as a login, and no further.
extension StreamStateMachine {
    /// Whether requests may be sent that come before a login.
    var isRegistering: Bool {
        if case .registering = state { true } else { false }
    }

    /// The channel is as safe as for a login, and nobody logs in. From here on people decide how long things take: the
    /// negotiation is over, and the forms that arrive may be as large as the stanzas of a session.
    mutating func beginRegistering(_ features: StreamFeatures) -> [StreamAction] {
        state = .registering
        return [.cancel(.negotiation), .limit(configuration.sessionLimits), .emit(.registering(features))]
    }

    /// A request that comes before a login is to be sent.
    ///
    /// - Returns: What to write; empty when the stream is in another state.
    package mutating func sendUnauthenticated(_ request: Element) -> [StreamAction] {
        guard case .registering = state else { return [] }
        return [.send(request)]
    }

    /// What comes before a login is an answer, and nothing else: RFC 6120 §4.3.5 lets no other stanza pass.
    mutating func receivedRegistering(_ element: Element) -> [StreamAction] {
        if element.isNamed("features", namespace: Namespace.streams) { return [] }
        guard element.isNamed("iq", namespace: Namespace.client), ["result", "error"].contains(element["type"]) else {
            return abandon(
                .serverNotAuthenticated("the server sent <\(element.localName)/> before a login", mechanism: ""))
        }
        return [.emit(.answer(element))]
    }
}
