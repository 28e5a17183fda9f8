// SPDX-License-Identifier: Apache-2.0

public import XMPPXML

extension StreamFeatures {
    private var authentication: Element? {
        element.firstChild("authentication", namespace: Namespace.sasl2)
    }

    private var inline: Element? {
        authentication?.firstChild("inline", namespace: Namespace.sasl2)
    }

    private var bind2: Element? {
        inline?.firstChild("bind", namespace: Namespace.bind2)
    }

    /// Whether SASL2 is offered (XEP-0388 §2.1), even with a list that is empty.
    public var offersSASL2: Bool { authentication != nil }

    /// The mechanisms that can be used with SASL2, in the server's order, as written.
    public var sasl2Mechanisms: [String] {
        authentication?.children("mechanism", namespace: Namespace.sasl2).map(\.text) ?? []
    }

    /// What the server would like to learn for stronger logins (XEP-0480 §2.1), in its order.
    public var upgradeTasks: [String] {
        authentication?.children("upgrade", namespace: Namespace.saslUpgrade).map(\.text) ?? []
    }

    /// Whether a session can be resumed together with the authentication (XEP-0198 §9.2).
    public var offersInlineResumption: Bool {
        inline?.firstChild("sm", namespace: Namespace.streamManagement) != nil
    }

    /// The name that the server gives to what it offers now (XEP-0509 §2.1); `nil` when it gives none.
    public var configVersion: Element? {
        element.firstChild("config-version", namespace: Namespace.initialPipelining)
    }

    /// The mechanisms that a token can be had for (XEP-0484 §3.1), in the server's order.
    public var tokenMechanisms: [String] {
        inline?.firstChild("fast", namespace: Namespace.fast)?.children("mechanism", namespace: Namespace.fast)
            .map(\.text) ?? []
    }

    /// Whether a resource can be bound together with the authentication (XEP-0386 §3.1).
    public var offersBind2: Bool { bind2 != nil }

    /// What can be switched on together with the binding (XEP-0386 §3.1), by its name in service discovery. Some
    /// servers leave out the `<inline/>` around the list.
    public var bind2Features: Set<String> {
        guard let bind2 else { return [] }
        let list = bind2.firstChild("inline", namespace: Namespace.bind2) ?? bind2
        return Set(list.children("feature", namespace: Namespace.bind2).compactMap { $0["var"] })
    }
}
