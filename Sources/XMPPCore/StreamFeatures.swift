// SPDX-License-Identifier: Apache-2.0

public import XMPPXML

/// What a server offers at one point of the negotiation (RFC 6120 §4.3.2).
public struct StreamFeatures: Hashable, Sendable {
    /// The whole `<stream:features/>` element.
    public let element: Element

    /// Reads the features.
    public init(_ element: Element) {
        self.element = element
    }

    /// Whether STARTTLS is offered; offered is as good as required (RFC 7590 §3.1).
    public var offersStartTLS: Bool { has("starttls", Namespace.startTLS) }

    /// The SASL mechanisms offered, in the server's order, as written.
    public var mechanisms: [String] {
        guard let mechanisms = element.firstChild("mechanisms", namespace: Namespace.sasl) else { return [] }
        return mechanisms.children("mechanism", namespace: Namespace.sasl).map(\.text)
    }

    /// Whether the element that lists mechanisms is there, even when it lists none.
    public var offersSASL: Bool { has("mechanisms", Namespace.sasl) }

    /// The channel-binding types that the server supports (XEP-0440); `nil` when it does not say.
    public var channelBindings: [String]? {
        element.firstChild("sasl-channel-binding", namespace: Namespace.saslChannelBinding)?
            .children("channel-binding", namespace: Namespace.saslChannelBinding).compactMap { $0["type"] }
    }

    /// Whether a resource can be bound.
    public var offersBind: Bool { has("bind", Namespace.bind) }

    /// Whether the session request of RFC 3921 has to be sent: offered and not marked `<optional/>`.
    public var requiresSession: Bool {
        guard let session = element.firstChild("session", namespace: Namespace.session) else { return false }
        return session.firstChild("optional", namespace: Namespace.session) == nil
    }

    /// Whether Stream Management is offered (XEP-0198).
    public var offersStreamManagement: Bool { has("sm", Namespace.streamManagement) }

    /// Whether the roster can be asked for by version (RFC 6121 §2.6).
    public var offersRosterVersioning: Bool { has("ver", Namespace.rosterVersioning) }

    /// Whether a subscription can be approved before it is asked for (RFC 6121 §3.4).
    public var offersPreApproval: Bool { has("sub", Namespace.preApproval) }

    /// Whether an account can be made before the login (XEP-0077 §8).
    public var offersRegistration: Bool { has("register", Namespace.registrationFeature) }

    /// Whether who was invited can make an account before the login (XEP-0445 §3).
    public var offersInvitedRegistration: Bool { has("register", Namespace.invitedRegistration) }

    /// The largest first-level element that the server takes, in bytes (XEP-0478); `nil` when it does not say.
    public var maximumStanzaBytes: Int? {
        element.firstChild("limits", namespace: Namespace.streamLimits)?
            .firstChild("max-bytes", namespace: Namespace.streamLimits)
            .flatMap { Int($0.text.trimmedOfXMLWhitespace) }.flatMap { $0 > 0 ? $0 : nil }
    }

    /// Features that are marked as required and that this library does not know (RFC 6120 §4.3.2).
    public var unknownRequired: [ElementName] {
        let known: Set<String> = [
            Namespace.startTLS, Namespace.sasl, Namespace.bind, Namespace.session, Namespace.streamManagement,
            Namespace.rosterVersioning, Namespace.preApproval, Namespace.streamLimits, Namespace.saslChannelBinding,
            Namespace.sasl2,
        ]
        return element.children.filter { feature in
            !known.contains(feature.namespace)
                && feature.firstChild("required", namespace: feature.namespace) != nil
        }.map(\.name)
    }

    private func has(_ localName: String, _ namespace: String) -> Bool {
        element.firstChild(localName, namespace: namespace) != nil
    }
}
