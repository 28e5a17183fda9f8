// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore
import XMPPCrypto
import XMPPXML

@testable import XMPPProtocol

/// A source of octets that counts upwards: ids and nonces are the same in every run.
struct CountingRandom: RandomSource {
    func bytes(_ count: Int) -> [UInt8] { (0..<max(0, count)).map { UInt8($0 % 251) } }
}

/// A machine for `romeo@example.net` and the ways in which a server takes it through the negotiation.
struct MachineHarness {
    var machine: StreamStateMachine

    init(
        password: String = "secret", resource: String? = "orchard", security: SecurityPolicy = .tlsRequired,
        policy: SASLPolicy = SASLPolicy(), keepalive: Keepalive = .ping(after: .seconds(300)),
        usesStreamManagement: Bool = true, resuming state: StreamState? = nil, leavesRoomMessages: Bool = false,
        leavesDoubted: Bool = false,
        configure: (inout StreamConfiguration) -> Void = { _ in }
    ) throws {
        let account = SASLAccount(username: "romeo", password: SecretBytes(Array(password.utf8)))
        var configuration = StreamConfiguration(
            account: try JID("romeo@example.net"), resource: resource,
            authentication: SASLAuthentication(credentials: .account(account), policy: policy),
            security: security, usesStreamManagement: usesStreamManagement, keepalive: keepalive,
            random: CountingRandom())
        configure(&configuration)
        machine = StreamStateMachine(
            configuration: configuration, resuming: state, leavesRoomMessages: leavesRoomMessages,
            leavesDoubted: leavesDoubted)
    }

    /// The server's header.
    mutating func header(from: String? = "example.net", version: String? = "1.0") -> [StreamAction] {
        let root = Element(
            "stream", namespace: Namespace.streams, attributes: ["from": from, "id": "s1", "version": version])
        return machine.received(.streamOpened(root, contentNamespace: Namespace.client))
    }

    /// A first-level element, written as XML in the content namespace.
    @discardableResult
    mutating func receive(_ xml: String) throws -> [StreamAction] {
        machine.received(.element(try Element.parse(xml, defaultNamespace: Namespace.client)))
    }

    static let startTLSFeatures =
        "<stream:features><starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/></stream:features>"
    static let plainFeatures =
        "<stream:features><mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>"
        + "<mechanism>PLAIN</mechanism></mechanisms></stream:features>"
    static let sessionFeatures =
        "<stream:features><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/><sm xmlns='urn:xmpp:sm:3'/></stream:features>"

    /// Up to and with TLS.
    mutating func secure(bindings: [ChannelBindingData] = []) throws {
        _ = machine.transportConnected(directTLS: false, peerIsLoopback: false)
        _ = header()
        try receive(Self.startTLSFeatures)
        try receive("<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>")
        _ = machine.tlsEstablished(.verifiedTLS(channelBindings: bindings))
        _ = header()
    }

    /// Up to and with authentication.
    mutating func authenticate() throws {
        try secure()
        try receive(Self.plainFeatures)
        try receive("<success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>")
        _ = header()
    }

    /// Up to and with the request to bind.
    ///
    /// - Returns: The id of the request.
    mutating func bind(_ features: String = MachineHarness.sessionFeatures) throws -> String {
        try authenticate()
        let request = try receive(features).compactMap(\.sent).first
        return try #require(request?["id"])
    }

    /// Up to the established session.
    mutating func establish(managed: Bool = true) throws {
        try establish(enabled: managed ? "<enabled xmlns='urn:xmpp:sm:3'/>" : "<failed xmlns='urn:xmpp:sm:3'/>")
    }

    /// Up to the established session, with this answer to `<enable/>`.
    mutating func establish(enabled: String) throws {
        let id = try bind()
        try receive(
            "<iq type='result' id='\(id)'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>"
                + "<jid>romeo@example.net/orchard</jid></bind></iq>")
        try receive(enabled)
    }
}

extension StreamAction {
    /// The element that is sent.
    var sent: Element? {
        if case .send(let element) = self { element } else { nil }
    }

    /// Why the stream is over.
    var end: StreamEnd? {
        if case .emit(.ended(let end)) = self { end } else { nil }
    }

    /// The stanza that is delivered.
    var stanza: Element? {
        if case .emit(.stanza(let element)) = self { element } else { nil }
    }
}

extension [StreamAction] {
    /// The elements sent, by name.
    var sentNames: [String] { compactMap(\.sent?.localName) }
    /// Why the stream is over.
    var end: StreamEnd? { compactMap(\.end).first }
    /// Whether anything was sent that belongs to SASL.
    var sendsCredentials: Bool {
        compactMap(\.sent).contains { $0.namespace == Namespace.sasl || $0.namespace == Namespace.sasl2 }
    }
}
