// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
public import XMPPCore
public import XMPPXML

/// The way to an account of one's own: a connection to a server on which nobody logs in (XEP-0077 §3.1.1).
///
/// ```swift
/// let registration = try await AccountRegistration.begin(XMPPConfiguration(jid: try JID("example.org"), password: nil))
/// let form = try await registration.form()
/// for question in form.questions.fields { … }
/// try await registration.submit(try form.submission(["username": ["juliet"], "password": ["secret"]]))
/// await registration.end()
/// ```
///
/// Nothing is sent but through TLS to a server whose certificate proves its domain.
public struct AccountRegistration: Sendable {
    /// How long a server may take to answer; 30 s.
    static let answerTimeout: Duration = .seconds(30)

    /// Where the account is made.
    public let domain: JID
    private let stream: XMPPStream

    /// Connects to the server of a domain, without a login.
    ///
    /// - Parameters:
    ///   - configuration: Where to connect to and how. Of its address the domain counts; a password is not used.
    ///   - token: The token of an invitation (XEP-0445): it is shown before anything is asked. A server that says
    ///     nothing of invitations is not shown it.
    /// - Throws: ``XMPPError`` that names the step that failed; with ``XMPPError/Code/stanzaError`` where the server
    ///   registers nobody (`service-unavailable`), or nobody with this token.
    public static func begin(
        _ configuration: XMPPConfiguration, invitation token: InvitationToken? = nil
    ) async throws(XMPPError) -> AccountRegistration {
        var configuration = configuration
        configuration.jid = configuration.jid.domain
        configuration.password = nil
        configuration.accessToken = nil
        configuration.clientCertificate = nil
        // Nobody logs in: there is nothing to remember, and nothing to rely on.
        configuration.loginMemory = InMemoryLoginMemoryStore()
        configuration.anticipatesFeatures = false
        configuration.isForRegistration = true
        let stream = XMPPStream(configuration)
        try await stream.connect()
        let registration = AccountRegistration(domain: configuration.jid, stream: stream)
        do throws(XMPPError) {
            try await registration.present(token)
        } catch {
            await registration.end()
            throw error
        }
        return registration
    }

    /// Makes sure that the server registers people, and shows it the token of an invitation.
    private func present(_ token: InvitationToken?) async throws(XMPPError) {
        let offer = await stream.offerBeforeLogin
        guard let token else {
            // XEP-0077 §8. A server that only takes invitations may say so in the answer to the form.
            guard offer?.offersRegistration == true || offer?.offersInvitedRegistration == true else {
                throw XMPPError(
                    .stanzaError, "\(domain) makes no accounts for those who ask.", stanzaError: .serviceUnavailable)
            }
            return
        }
        // XEP-0445 §3: an address of the web may say anything about a server.
        guard offer?.offersInvitedRegistration == true else {
            throw XMPPError(
                .stanzaError, "\(domain) takes no invitations to make an account.", stanzaError: .serviceUnavailable)
        }
        _ = try await stream.requestBeforeLogin(
            IQ(.set, to: domain, payload: token.element), timeout: Self.answerTimeout)
    }

    /// Asks what the server wants to know. To be asked anew after an answer that it did not take, where the questions
    /// are riddles that can be answered once.
    ///
    /// - Throws: ``XMPPError``.
    public func form() async throws(XMPPError) -> RegistrationForm {
        let answer = try await stream.requestBeforeLogin(
            IQ(.get, to: domain, payload: Element(RegistrationForm.elementName)), timeout: Self.answerTimeout)
        guard let form = answer.payload(RegistrationForm.self) else {
            throw XMPPError(
                StanzaError(.undefinedCondition, kind: .cancel, text: "the answer asks for nothing"), from: domain)
        }
        return form
    }

    /// Answers the questions: the account is there when this returns.
    ///
    /// - Parameter submission: What ``RegistrationForm/submission(_:)`` has made of the answers.
    /// - Throws: ``XMPPError``: with ``XMPPError/Code/stanzaError`` and `conflict` where somebody has that name
    ///   already, `not-acceptable` where an answer is missing or wrong, `resource-constraint` where the server has made
    ///   many accounts of late, `not-allowed` or `forbidden` where it makes none for who asks.
    public func submit(_ submission: Element) async throws(XMPPError) {
        _ = try await stream.requestBeforeLogin(
            IQ(.set, to: domain, payload: submission), timeout: Self.answerTimeout)
    }

    /// Ends the connection.
    public func end() async {
        await stream.disconnect()
    }
}
