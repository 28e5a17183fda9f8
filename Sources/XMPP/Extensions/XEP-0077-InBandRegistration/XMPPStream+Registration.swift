// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
internal import XMPPCrypto
public import XMPPXML

extension XMPPStream {
    /// What a service asks of those who want to register with it, or has on file about who has (XEP-0077 §3.1).
    ///
    /// For an account of one's own there is ``AccountRegistration``.
    ///
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``.
    public func registrationForm(of service: JID) async throws(XMPPError) -> RegistrationForm {
        try await request(
            IQ(.get, to: service, payload: Element(RegistrationForm.elementName)), expecting: RegistrationForm.self)
    }

    /// Registers with a service by a form that was filled in.
    ///
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``; its ``XMPPError/form`` asks for more, where there is one.
    public func register(_ form: DataForm, with service: JID) async throws(XMPPError) {
        try await sendRegistration(RegistrationForm.query([form.element]), to: service)
    }

    /// Registers with a service (XEP-0077 §3.1).
    ///
    /// - Parameters:
    ///   - submission: What ``RegistrationForm/submission(_:)`` has made of the answers.
    ///   - service: The service.
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``; its ``XMPPError/form`` asks for more, where there is one.
    public func sendRegistration(_ submission: Element, to service: JID) async throws(XMPPError) {
        try await request(IQ(.set, to: service, payload: submission))
    }

    /// Gives a registration with a service up (XEP-0077 §3.2).
    ///
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``; where its ``XMPPError/form`` asks for something, that goes
    ///   to ``register(_:with:)``.
    public func unregister(from service: JID) async throws(XMPPError) {
        try await request(IQ(.set, to: service, payload: Self.removal))
    }

    /// Removes the own account from its server, with all that the server has of it (XEP-0077 §3.2). That cannot be
    /// undone.
    ///
    /// The server ends the stream afterwards, and may do so before it has answered: that counts as the answer.
    ///
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``. Where its ``XMPPError/form`` asks for something, that goes
    ///   to ``register(_:with:)`` with the domain of the account.
    public func removeAccount() async throws(XMPPError) {
        do throws(XMPPError) {
            try await request(IQ(.set, payload: Self.removal))
        } catch {
            // XEP-0077 §3.2: `not-authorized` ends the streams of an account that is gone.
            guard error.code == .streamError, error.streamError?.condition == .notAuthorized else { throw error }
        }
    }

    /// Gives the own account another password (XEP-0077 §3.3).
    ///
    /// - Throws: ``XMPPError`` with ``XMPPError/Code/invalidStanza`` for an empty password or one that cannot be sent,
    ///   ``XMPPError/Code/tlsUnavailable`` where the stream is not secured, else as ``request(_:timeout:)``. Where its
    ///   ``XMPPError/form`` asks for something, that goes to ``register(_:with:)`` with the domain of the account.
    public func changePassword(to password: Password) async throws(XMPPError) {
        let own = jid?.bare ?? configuration.jid.bare
        guard let username = own.localpart else {
            throw XMPPError(.invalidStanza, "\(own) is no account that has a password.")
        }
        // It goes in the clear within the stream.
        guard security != nil || configuration.securityPolicy == .plaintextOnLoopback else {
            throw XMPPError(.tlsUnavailable, "The stream is not secured; no password is sent.")
        }
        guard let text = password.text, !text.isEmpty else {
            throw XMPPError(.invalidStanza, "The new password is empty, or no text.")
        }
        let query = RegistrationForm.query([
            Element("username", namespace: RegistrationForm.namespace, text: username),
            Element("password", namespace: RegistrationForm.namespace, text: text),
        ])
        try await request(IQ(.set, to: own.domain, payload: query))
    }

    private static var removal: Element {
        RegistrationForm.query([Element("remove", namespace: RegistrationForm.namespace)])
    }
}

extension Password {
    /// The password as text, for the few things that are told it; `nil` when it is no UTF-8.
    fileprivate var text: String? {
        secret.withUnsafeBytes { String(validating: $0, as: UTF8.self) }
    }
}
