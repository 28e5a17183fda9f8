// SPDX-License-Identifier: Apache-2.0

package import XMPPCore
package import XMPPXML

/// Resource binding (RFC 6120 §7), and the session request of RFC 3921 for servers that still insist on it.
package struct ResourceBinding: Sendable {
    /// What came of a received stanza.
    package enum Outcome: Sendable, Equatable {
        /// It was not the answer that is waited for.
        case ignored
        /// This is to be sent next.
        case send(Element)
        /// The stream has this full address.
        case bound(JID)
        /// The server refused, or answered with something that cannot be our address.
        case failed(BindingFailure)
    }

    private enum Phase: Sendable, Equatable {
        case binding
        case startingSession(JID)
    }

    private let account: JID
    private let requiresSession: Bool
    private let identifiers: [String]
    private var resource: String?
    private var hasRetried = false
    private var phase = Phase.binding
    private var tracker: IQTracker

    /// Makes a negotiation.
    ///
    /// - Parameters:
    ///   - account: The authenticated bare address.
    ///   - resource: The resource to ask for; `nil` leaves the choice to the server.
    ///   - requiresSession: Whether the session request must follow.
    ///   - identifiers: Three unguessable ids for the requests.
    package init(account: JID, resource: String?, requiresSession: Bool, identifiers: [String]) {
        self.account = account.bare
        self.resource = resource
        self.requiresSession = requiresSession
        self.identifiers = identifiers
        tracker = IQTracker(account: account.bare)
    }

    /// The first request.
    package mutating func start() -> Element {
        request(number: 0, payload: bindPayload)
    }

    /// Takes a first-level element that arrived while the negotiation runs.
    package mutating func received(_ element: Element) -> Outcome {
        guard let iq = try? IQ(element), case .answer = tracker.received(iq) else { return .ignored }
        switch phase {
        case .binding: return iq.kind == .result ? accept(iq) : refuse(iq)
        case .startingSession(let jid):
            return iq.kind == .result ? .bound(jid) : .failed(.refused(iq.error ?? .badRequest))
        }
    }

    private var bindPayload: Element {
        var bind = Element("bind", namespace: Namespace.bind)
        if let resource { bind.append(Element("resource", namespace: Namespace.bind, text: resource)) }
        return bind
    }

    private mutating func request(number: Int, payload: Element) -> Element {
        let id = number < identifiers.count ? identifiers[number] : "bind-\(number)"
        _ = tracker.sending(id: id, to: nil)
        return IQ(.set, id: id, payload: payload).element
    }

    /// The server decides on the address (RFC 6120 §7.6), within the domain that was authenticated to.
    private mutating func accept(_ iq: IQ) -> Outcome {
        let text = iq.payload?.firstChild("jid", namespace: Namespace.bind)?.text.trimmedOfXMLWhitespace
        guard let text, let jid = try? JID(text), jid.isFull else { return .failed(.noFullAddress(text)) }
        guard jid.domain == account.domain else { return .failed(.foreignDomain(jid)) }
        guard requiresSession else { return .bound(jid) }
        phase = .startingSession(jid)
        return .send(request(number: 2, payload: Element("session", namespace: Namespace.session)))
    }

    /// A resource that is taken or not liked is given up once, for one that the server makes (RFC 6120 §7.7.2.2).
    private mutating func refuse(_ iq: IQ) -> Outcome {
        let error = iq.error ?? .badRequest
        guard resource != nil, !hasRetried, error.condition == .conflict || error.condition == .badRequest else {
            return .failed(.refused(error))
        }
        hasRetried = true
        resource = nil
        return .send(request(number: 1, payload: bindPayload))
    }
}

/// Why no resource could be bound.
package enum BindingFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The server said no.
    case refused(StanzaError)
    /// The answer holds no full JID.
    case noFullAddress(String?)
    /// The answer is an address of another domain than the one authenticated to.
    case foreignDomain(JID)

    /// The reason for people.
    package var description: String {
        switch self {
        case .refused(let error): "the server refused to bind a resource: \(error)"
        case .noFullAddress(let text?): "the server bound “\(text)”, which is not a full address"
        case .noFullAddress(nil): "the server bound no address"
        case .foreignDomain(let jid): "the server bound \(jid), which is in another domain"
        }
    }
}
