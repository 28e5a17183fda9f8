// SPDX-License-Identifier: Apache-2.0

public import XMPP
public import XMPPCore

/// What a ``LoopbackServer`` offers and how it behaves. The defaults are those of a good, modern server.
public struct LoopbackOptions: Sendable {
    /// Whether, and how urgently, the server offers the session request of the old RFC 3921.
    public enum LegacySession: Sendable, Hashable {
        /// Not at all.
        case absent
        /// Marked `<optional/>`.
        case optional
        /// As old servers do: clients must ask.
        case required
    }

    /// What happens when a second client binds a resource that is taken (RFC 6120 §7.7.2.2).
    public enum ResourceConflict: Sendable, Hashable {
        /// The first client's stream ends with `conflict`.
        case replacesOld
        /// The second client's request is refused with `conflict`.
        case refusesNew
        /// The second client gets another resource.
        case renamesNew
    }

    /// The SASL mechanisms offered, in this order. Default: SCRAM-SHA-512, -256, -1, and PLAIN. The `-PLUS` variants of
    /// SCRAM, `ANONYMOUS` and `OAUTHBEARER` (with the password as token) work too once they are named here.
    public var mechanisms = ["SCRAM-SHA-512", "SCRAM-SHA-256", "SCRAM-SHA-1", "PLAIN"]
    /// Whether authentication is offered as RFC 6120 has it.
    public var offersSASL1 = true
    /// Whether SASL2 is offered inside TLS (XEP-0388). Default: not.
    public var offersSASL2 = false
    /// Whether a resource can be bound together with SASL2 (XEP-0386).
    public var offersBind2 = true
    /// What else is offered to be switched on with it, by its name in service discovery; nothing comes of it here.
    public var bind2Features: [String] = []
    /// Whether archives begin anew with each page, so that reading them never ends.
    public var archiveGoesInCircles = false
    /// Whether tokens are given, and taken, together with SASL2 (XEP-0484).
    public var offersTokens = true
    /// For how long a token is good; default 21 days.
    public var tokenLifetime: Duration = .seconds(21 * 86_400)
    /// Whether a login with a token brings the next one.
    public var rotatesTokens = true
    /// The name that the server gives to what it offers (XEP-0509); `nil` for none. A login that relies on another one
    /// is refused.
    public var configurationVersion: String?
    /// Iterations of SCRAM; default 4,096, the least that RFC 7677 §4 allows.
    public var iterations = 4_096
    /// Whether SCRAM tells the version of TLS (XEP-0515).
    public var tellsTLSVersion = true
    /// The SCRAM mechanisms, without `-PLUS`, for which clients are asked for what the server lacks (XEP-0480);
    /// together with SASL2. See ``LoopbackServer/upgrades(of:)``.
    public var upgrades: [String] = []
    /// Answers every authentication with this failure; `nil` checks the password.
    public var authenticationFailure: SASLFailure.Condition?

    /// What is asked of who wants an account (XEP-0077); `nil`, the default, makes none. Together with it, accounts can
    /// change their password and be removed.
    public var registration: RegistrationForm?
    /// Whether accounts can be asked for without TLS too, where nobody should.
    public var registersInTheClear = false
    /// Answers everybody who wants an account, another password or an end with this error; `nil` looks at the answers.
    public var registrationRefusal: StanzaError?
    /// The right answers to fields that are riddles.
    public var riddles: [String: String] = [:]
    /// Whether invitations are taken (XEP-0445).
    public var takesInvitations = false
    /// Whether accounts are made for those alone who have one.
    public var registersInvitedOnly = false
    /// Whether accounts can have invitations made (XEP-0401).
    public var makesInvitations = false
    /// Whether accounts are told of the clients that have access to them (XEP-0494); see
    /// ``LoopbackServer/setClients(_:of:)``.
    public var managesClients = false

    /// Whether STARTTLS is offered on ``LoopbackServer/port``.
    public var offersStartTLS = true
    /// How many streams are sent on to another place instead of being served (RFC 6120 §4.9.3.19); 0 sends none.
    public var redirectedStreams = 0
    /// Where they are sent on to: `host:port`, and the address of a WebSocket over WebSocket (RFC 7395 §3.6.1).
    public var redirection = ""
    /// Whether they are sent on before TLS already, where nobody should believe it.
    public var redirectsInTheClear = false
    /// Whether there is a second port for TLS from the first byte.
    public var offersDirectTLS = true
    /// Whether there is a port for WebSockets inside of TLS (RFC 7395), at the path ``webSocketPath``.
    public var offersWebSocket = true
    /// The path of WebSockets.
    public var webSocketPath = "/xmpp-websocket"
    /// The address of a WebSocket that the domain publishes in its host-meta file (XEP-0156), on the port for
    /// WebSockets; `{port}` in it stands for that port. `nil` publishes no such file.
    public var publishedWebSocket: String?
    /// The text of the file in which the domain publishes all its places (XEP-0487), on the port for WebSockets;
    /// `{port}` in it stands for that port, `{directTLSPort}` for the one for direct TLS. `nil` publishes no such file.
    public var publishedPlaces: String?
    /// What the web server says is the kind of these files; `nil` says what they are.
    public var publishedMediaType: String?
    /// Where the web server sends on to whoever asks for these files, with the status 301; `nil` answers with them.
    public var publishedRedirection: String?
    /// Whether authentication is offered without TLS too.
    public var allowsPlaintext = false
    /// Whether clients are asked for a certificate of the server's own authority. One who shows one may log in with
    /// `EXTERNAL` to the account that it names (as XmppAddr), where that mechanism is offered. Fixed when the server
    /// starts.
    public var asksForCertificates = false
    /// What is wrong with the server's certificate.
    public var certificateFlaw: TestCertificate.Flaw?
    /// The names that the certificate presents; `nil` for the domain in every form.
    public var certificateNames: [TestCertificate.Name]?

    /// What becomes of a session whose connection is lost (XEP-0198 §5).
    public enum Resumption: Sendable, Hashable {
        /// It ends with its connection; clients are not promised more.
        case notOffered
        /// It is kept for this long, and resumed when its client asks for it in time. A refusal thereafter tells how
        /// many stanzas were handled.
        case kept(for: Duration)
        /// It ends with its connection, against the promise. The refusal tells how many stanzas were handled.
        case refusedWithCount
        /// It ends with its connection, against the promise. The refusal tells nothing.
        case refused
        /// It ends with its connection, against the promise. The refusal names no reason, and a count that is no
        /// number.
        case refusedStrangely
    }

    /// Whether Stream Management is offered (XEP-0198).
    public var offersStreamManagement = true
    /// What becomes of a session whose connection is lost; by default it ends.
    public var resumption = Resumption.notOffered
    /// Whether the server keeps messages in its hands, and what comes behind them in the same session, until an archive
    /// was asked or another session has sent a message. As ejabberd, it deals with them then although the session may
    /// have gone on elsewhere, where they are not counted.
    public var holdsMessages = false
    /// For how long it keeps them, and nothing else ends that; `nil` for as long as ``holdsMessages`` says.
    public var holdingTime: Duration?
    /// Whether the server answers `<r/>`; when not, it swallows the acknowledgements.
    public var answersAcknowledgementRequests = true
    /// Asks the client for an acknowledgement after every so many stanzas; `nil` never asks.
    public var requestsAcknowledgementEvery: Int?

    /// The offer of the old session request.
    public var legacySession = LegacySession.optional
    /// What happens to a resource that is asked for twice.
    public var resourceConflict = ResourceConflict.replacesOld
    /// Whether rosters have versions (RFC 6121 §2.6).
    public var offersRosterVersioning = true
    /// Whether clients may say that nobody looks at them (XEP-0352); nothing is held back then. Default: not.
    public var offersClientState = false
    /// Whether a contact can be approved before it asks (RFC 6121 §3.4).
    public var offersPreApproval = true
    /// Whether messages to an account without available resource are kept, else they bounce.
    public var storesOfflineMessages = true
    /// Whether accounts and rooms have an archive of their messages (XEP-0313). Default: not.
    public var offersArchive = false
    /// Whether messages that a session never got, and that are in the archive, are delivered in another way once it has
    /// ended. Prosody leaves them to the archive.
    public var reroutesArchivedMessages = true
    /// Whether rooms tell who enters what was said before (XEP-0045 §7.2.15).
    public var tellsRoomHistory = true
    /// Whether pings to the server are answered (XEP-0199).
    public var answersPing = true
    /// Whether the server tells its features (XEP-0030).
    public var answersDiscovery = true
    /// Whether rooms send what is said in them back to who said it (XEP-0045 §7.4), and on to the others.
    public var reflectsRoomMessages = true
    /// Whether what is said in rooms is lost before it comes there: nobody gets it, and no history or archive has it.
    public var losesRoomMessages = false

    /// Makes the default options.
    public init() {}

    /// A server of today: SASL2 with all that can go along with it, channel binding, sessions that are kept for a
    /// minute.
    public static var modern: LoopbackOptions {
        var options = LoopbackOptions()
        options.mechanisms = ["SCRAM-SHA-512-PLUS", "SCRAM-SHA-256-PLUS", "SCRAM-SHA-1-PLUS"] + options.mechanisms
        options.offersSASL2 = true
        options.resumption = .kept(for: .seconds(60))
        return options
    }
}
