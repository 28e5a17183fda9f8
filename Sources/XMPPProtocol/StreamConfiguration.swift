// SPDX-License-Identifier: Apache-2.0

package import XMPPCore
package import XMPPCrypto
package import XMPPXML

/// What a ``StreamStateMachine`` is told once and for all.
package struct StreamConfiguration: Sendable {
    /// The bare address of the account; its domain is what the stream asks for.
    package var account: JID
    /// The resource to ask for; `nil` leaves the choice to the server.
    package var resource: String?
    /// Who to authenticate as, and how.
    package var authentication: SASLAuthentication
    /// How much protection the account insists on.
    package var security: SecurityPolicy
    /// The default language of the stream.
    package var language: String?
    /// Limits before authentication.
    package var limitsBeforeAuthentication: XMLLimits
    /// Limits of the session.
    package var sessionLimits: XMLLimits
    /// Whether to switch on Stream Management where the server offers it.
    package var usesStreamManagement: Bool
    /// Whether the server is asked to keep the session when the connection is lost (XEP-0198 §5).
    package var isResumable: Bool
    /// Whether SASL2 (XEP-0388) is used where the server offers it.
    package var usesSASL2: Bool
    /// Which program this is, for SASL2; `nil` is not told.
    package var userAgent: UserAgent?
    /// What the server may put in front of the resource that it makes (XEP-0386 §3.2); others see it.
    package var bindTag: String?
    /// What to switch on together with the binding, where the server can do that.
    package var inlineFeatures: [InlineFeature]
    /// What the server offered at the last login; what it allows is sent without waiting for the server to offer it
    /// anew.
    package var expected: OfferedFeatures?
    /// Whether elements that are past a limit of the session are passed over, and not refused. For whoever comes back
    /// after one was refused: the server may send it again at each login.
    package var passesOverOversized = false
    /// Whether nobody logs in on the stream: requests are sent that come before a login (XEP-0077 §3.1.1).
    package var isForRegistration = false
    /// Signs of life.
    package var keepalive: Keepalive
    /// Time-outs.
    package var timeouts: StreamTimeouts
    /// Where unguessable ids come from.
    package var random: any RandomSource

    /// Makes a configuration with the defaults of each property.
    package init(
        account: JID, resource: String? = nil, authentication: SASLAuthentication,
        security: SecurityPolicy = .tlsRequired, language: String? = nil,
        limitsBeforeAuthentication: XMLLimits = .beforeAuthentication, sessionLimits: XMLLimits = .session,
        usesStreamManagement: Bool = true, isResumable: Bool = true,
        usesSASL2: Bool = true, userAgent: UserAgent? = nil, bindTag: String? = nil,
        inlineFeatures: [InlineFeature] = [],
        keepalive: Keepalive = .ping(after: .seconds(300)),
        timeouts: StreamTimeouts = StreamTimeouts(), random: any RandomSource
    ) {
        self.account = account.bare
        self.resource = resource
        self.authentication = authentication
        self.security = security
        self.language = language
        self.limitsBeforeAuthentication = limitsBeforeAuthentication
        self.sessionLimits = sessionLimits
        self.usesStreamManagement = usesStreamManagement
        self.isResumable = isResumable
        self.usesSASL2 = usesSASL2
        self.userAgent = userAgent
        self.bindTag = bindTag
        self.inlineFeatures = inlineFeatures
        self.keepalive = keepalive
        self.timeouts = timeouts
        self.random = random
    }
}

/// How an idle stream is kept alive (RFC 6120 §4.6).
public enum Keepalive: Sendable, Hashable {
    /// Nothing is sent; a dead connection is noticed when something is.
    case off
    /// A space is sent when nothing was sent for this long. It keeps middleboxes awake; a dead peer is not noticed.
    case whitespace(every: Duration)
    /// The server is asked for a sign of life when nothing was received for this long: an acknowledgement request where
    /// Stream Management is on, else a ping (XEP-0199). The default, with 5 minutes.
    case ping(after: Duration)
}

/// How long a server may take (RFC 6120 §4.6.1 leaves it to us).
public struct StreamTimeouts: Sendable, Hashable {
    /// For the TLS handshake; default 15 s.
    public var tls: Duration
    /// From the connection to the established session, TLS included; default 30 s.
    public var negotiation: Duration
    /// For the rest of a stanza that the server has begun; default 300 s. Counted in quarters, so that it may be one
    /// quarter more.
    public var stanza: Duration
    /// How long a sent stanza waits for others before the server is asked to acknowledge them; default 1 s.
    public var acknowledgement: Duration
    /// For an answer to a sign-of-life request, acknowledgements among them; default 30 s.
    public var answer: Duration
    /// For the server's end of the stream after ours (RFC 6120 §4.4); default 5 s.
    public var closing: Duration

    /// Makes time-outs.
    public init(
        tls: Duration = .seconds(15), negotiation: Duration = .seconds(30), stanza: Duration = .seconds(300),
        acknowledgement: Duration = .seconds(1), answer: Duration = .seconds(30), closing: Duration = .seconds(5)
    ) {
        self.tls = tls
        self.negotiation = negotiation
        self.stanza = stanza
        self.acknowledgement = acknowledgement
        self.answer = answer
        self.closing = closing
    }
}
