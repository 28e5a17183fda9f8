// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
internal import XMPPXML

/// What somebody is invited to by an `xmpp:` address (XEP-0379 §3.2, XEP-0401 §4, XEP-0445 §2).
public enum Invitation: Sendable, Hashable {
    /// To be the contact of somebody: who invites; what they would like to be called, which anybody can write, so that
    /// it is never to be shown without the address; what makes them approve at once; and whether that is said to be
    /// good for an account at their server too.
    case contact(JID, name: String?, token: InvitationToken?, mayRegister: Bool)
    /// To have an account: where, under which name, where that is decided already, and what the server lets in with.
    case account(domain: JID, username: String?, token: InvitationToken?)

    /// What an address invites to; `nil` when it is for something else, or names nobody.
    ///
    /// A token that can be none is passed over (XEP-0379 §4.1): ``hasOddToken(_:)`` tells.
    public init?(_ uri: XMPPURI) {
        guard let jid = uri.jid?.bare else { return nil }
        let token = uri["preauth"].flatMap { InvitationToken($0) }
        switch uri.action {
        case .some(.roster), .some(.subscribe):
            guard jid.localpart != nil else { return nil }
            let name = uri["name"].flatMap { $0.isEmpty ? nil : $0 }
            self = .contact(jid, name: name, token: token, mayRegister: token != nil && uri["ibr"] == "y")
        case .some(.register):
            self = .account(domain: jid.domain, username: jid.localpart, token: token)
        default:
            return nil
        }
    }

    /// Whether an address has a token that can be none.
    public static func hasOddToken(_ uri: XMPPURI) -> Bool {
        uri["preauth"].map { InvitationToken($0) == nil } ?? false
    }
}

/// An invitation to hand on to somebody who may have no account yet.
public struct InvitationLink: Sendable, Hashable {
    /// The fields of an answer that hold a token.
    static let secretFields: Set<String> = ["uri", "landing-url", "preauth"]

    /// What the other side's client opens.
    public var uri: XMPPURI
    /// A page of the web that says the same to people; always `https:`.
    public var page: String?
    /// Until when it is good; `nil` where it does not say.
    public var expiry: DateTime?

    /// Makes an invitation.
    public init(_ uri: XMPPURI, page: String? = nil, expiry: DateTime? = nil) {
        self.uri = uri
        self.page = page
        self.expiry = expiry
    }

    /// Reads the outcome of a command (XEP-0401 §4.1); `nil` when it holds no address that invites.
    init?(_ form: DataForm) {
        guard let uri = form["uri"]?.values.first.flatMap({ XMPPURI($0) }), Invitation(uri) != nil else { return nil }
        let page = form["landing-url"]?.values.first
        // The table of §7.1 has the other name.
        let expiry = form["expire"]?.values.first ?? form["expiry"]?.values.first
        self.init(
            uri, page: page.flatMap { $0.lowercased().hasPrefix("https://") ? $0 : nil },
            expiry: expiry.flatMap { DateTime($0) })
    }
}

extension XMPPStream {
    /// The command that invites a contact.
    private static let inviteNode = "urn:xmpp:invite#invite"
    /// The command that invites to an account.
    private static let createAccountNode = "urn:xmpp:invite#create-account"

    /// Lets the server make an invitation to be the user's contact, with an account at the same server where it allows
    /// that (XEP-0401 §4.1).
    ///
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``: `item-not-found`, `service-unavailable` or
    ///   `feature-not-implemented` from servers that make none.
    public func createInvitation() async throws(XMPPError) -> InvitationLink {
        try await createLink(Self.inviteNode, [:])
    }

    /// Lets the server make an invitation to have an account there (XEP-0401 §4.4); for those who may invite like that.
    ///
    /// - Parameters:
    ///   - username: The name of the account; `nil` leaves it to who is invited.
    ///   - subscribes: Whether the account and the user see each other from the start; `nil` leaves it to the server.
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``: `forbidden` where the user may not; with `not-acceptable`
    ///   where the server does not ask for what was given.
    public func createAccountInvitation(
        username: String? = nil, subscribes: Bool? = nil
    ) async throws(XMPPError) -> InvitationLink {
        var answers: [String: [String]] = [:]
        if let username { answers["username"] = [username] }
        if let subscribes { answers["roster-subscription"] = [subscribes ? "1" : "0"] }
        return try await createLink(Self.createAccountNode, answers)
    }

    private func createLink(_ node: String, _ answers: [String: [String]]) async throws(XMPPError) -> InvitationLink {
        let server = (jid ?? configuration.jid).domain
        var step = try await runCommand(node, of: server)
        var isAsked = answers.isEmpty
        // One form, and one more for servers that want what was said confirmed.
        for _ in 0..<2 where step.status == .executing {
            guard let form = step.form, form.kind == .form else { break }
            let fitting = answers.filter { form[$0.key] != nil }
            isAsked = isAsked || fitting.count == answers.count
            let filled: DataForm
            do {
                filled = try form.filled(fitting)
            } catch {
                _ = try? await continueCommand(step, of: server, action: .cancel)
                throw XMPPError(StanzaError(.notAcceptable, kind: .modify, text: "\(error)"), from: server)
            }
            step = try await continueCommand(
                step, of: server, action: step.defaultAction ?? .complete, form: filled)
        }
        guard isAsked else {
            throw XMPPError(
                StanzaError(.notAcceptable, kind: .modify, text: "the server does not let that be chosen"), from: server
            )
        }
        guard let link = step.form.flatMap({ InvitationLink($0) }) else {
            let text = step.notes.first?.text ?? "the answer has no invitation"
            throw XMPPError(StanzaError(.undefinedCondition, kind: .cancel, text: text), from: server)
        }
        return link
    }
}
