// SPDX-License-Identifier: Apache-2.0

package import SocketIO
public import XMPPCore
package import XMPPCrypto
public import XMPPProtocol
package import XMPPTransport
public import XMPPXML

/// Who to connect as, where to, and how.
///
/// The address and the password are enough; everything else has the default that a careful client needs.
public struct XMPPConfiguration: Sendable {
    /// How the connection becomes secure, where ``host`` overrides what DNS says.
    public enum Security: Sendable, Hashable {
        /// A plain stream is upgraded (RFC 6120 §5).
        case startTLS
        /// TLS from the first byte (XEP-0368).
        case directTLS
    }

    /// When a received stanza counts as handled (XEP-0198 §4): what is not handled when the connection is lost is sent
    /// again.
    public enum StanzaHandling: Sendable, Hashable {
        /// When its events have been handed to delegates and sequences: it is in this program's memory.
        case whenReceived
        /// When every delegate's method has returned that it was passed to: a delegate that stores messages has stored
        /// it. A stanza of which a delegate crashes this program is sent again. Sequences are not waited for.
        case whenDelegatesAreDone
    }

    /// The account's address. A resource in it is asked for; without one the server makes one up. A server that binds
    /// resources in the modern way (XEP-0386) makes one up all the same, and puts the one asked for in front of it.
    public var jid: JID
    /// The password; `nil` logs in without an account (SASL ANONYMOUS), with the bare domain as ``jid``.
    public var password: Password?
    /// An access token of an authorization server (SASL OAUTHBEARER, RFC 7628), beside the password or in its place. It
    /// goes through verified TLS alone, and SCRAM is preferred where there is a password too.
    public var accessToken: Password?
    /// The client certificate to show to a server that asks for one; where that server offers SASL EXTERNAL, it logs in
    /// with it before anything else.
    public var clientCertificate: ClientCertificate?
    /// A host to connect to instead of what DNS says. The certificate must still prove the domain of ``jid``.
    public var host: String?
    /// The port at ``host``; `nil` means 5222, or 5223 for direct TLS.
    public var port: UInt16?
    /// How the connection to ``host`` becomes secure.
    public var hostSecurity = Security.startTLS
    /// A proxy to connect through; `nil` connects directly. Names are then looked up at its end alone: without ``host``
    /// or ``webSocket`` the domain itself is tried, at port 5222 and then with direct TLS at 5223, and then the
    /// WebSocket that it publishes over HTTPS, for SRV records cannot be asked for through a proxy.
    public var proxy: ConnectionProxy?
    /// A WebSocket to connect to (RFC 7395) instead of what DNS says and of ``host``: for networks that let nothing but
    /// the web through. The certificate must prove the host of this address.
    public var webSocket: WebSocketAddress?
    /// Whether the domain is asked over HTTPS for other places (XEP-0487, XEP-0156) when none that DNS names can be
    /// reached; default true. Not where ``host`` or ``webSocket`` says where to connect to.
    ///
    /// As long as an answer of XEP-0487 holds, connections of this configuration and its copies begin with the places
    /// in it, and DNS is asked when those are out of reach. It may name the server that the certificate has to be made
    /// out to in place of the domain, and the keys that it may have.
    public var asksWebForPlaces = true
    /// What a server has to show before the login begins; ``ServerTrust/authorities`` unless said otherwise.
    public var trust = ServerTrust.authorities
    /// A PEM file with the certificate authorities to trust in place of the system's.
    public var certificateAuthorityFile: String?
    /// Whether a connection resumes the TLS session of an earlier one where the server is ready to (RFC 8446 §2.2),
    /// which spares both sides the costly part of the handshake; default true. Sessions are kept in memory, for the
    /// account alone, and shared by the copies of a configuration. The certificate counts anew each time.
    public var resumesTLS = true
    /// How much protection the account insists on.
    public var securityPolicy = SecurityPolicy.tlsRequired
    /// Whether SASL PLAIN may be used, inside verified TLS; default true. SCRAM is preferred wherever it is offered.
    public var allowsPlain = true
    /// Whether the account is known to have logged in with SCRAM: PLAIN is then refused (XEP-0474).
    public var hasUsedSCRAM = false
    /// Whether Stream Management (XEP-0198) is switched on where the server offers it; default true.
    public var usesStreamManagement = true
    /// Whether authentication, binding and Stream Management go in one exchange (XEP-0388, XEP-0386) where the server
    /// offers that; default true.
    public var usesSASL2 = true
    /// Whether a token is asked for that logs in the next time (XEP-0484), where the server gives one inside TLS;
    /// default true.
    public var usesTokens = true
    /// Whether a login relies on what the server offered at the last one, and sends at once what it would send a few
    /// round trips later (XEP-0305, XEP-0509); default true. Where the server has changed, the login begins anew on
    /// another connection.
    public var anticipatesFeatures = true
    /// Whether a login may be weaker than those before, as ``LoginMemory`` knows them: PLAIN or an access token in
    /// place of the password's proof after SCRAM, a login without channel binding after one with it; default false. A
    /// server that has changed for the worse, and somebody who sits in between, look alike.
    public var allowsWeakerLogin = false
    /// What earlier logins left for the next one: shared by the copies of a configuration, and kept in memory, unless
    /// said otherwise.
    public var loginMemory: any LoginMemoryStore = InMemoryLoginMemoryStore()
    /// When a received stanza counts as handled; default ``StanzaHandling/whenReceived``.
    public var stanzaHandling = StanzaHandling.whenReceived
    /// Whether contacts that may see the user's presence are told that a message has arrived, where they ask
    /// (XEP-0184); default true.
    public var sendsReceipts = true
    /// Whether ``XMPPClient`` asks for copies of what the account's other clients send and receive (XEP-0280); default
    /// false. They are ``XMPPEvent/carbon(_:)``.
    public var usesCarbons = false
    /// Whether a new session of an ``XMPPClient`` begins with what the one before has missed, as far as the archives of
    /// the account and of its rooms have it (XEP-0313), in order and nothing twice (XEP-0359); default true.
    ///
    /// What others have sent is ``XMPPEvent/message(_:)``, with the time at which the archive got it; with
    /// ``usesCarbons``, what the account's other clients have sent and received is ``XMPPEvent/carbon(_:)``. Up to
    /// 5,000 messages are taken in of each archive: ``XMPPStream/archive(_:of:after:pageSize:)`` reads the rest.
    public var catchesUp = true
    /// Whether each new session of an ``XMPPClient`` begins as one that nobody looks at, so that the server may hold
    /// back what can wait (XEP-0352); default false. It is said together with the login where the server can do that
    /// (XEP-0386), and ``XMPPStream/setActive(_:)`` says when somebody looks. A resumed session is what it was.
    public var beginsInactive = false
    /// Whether a client tries again at once, and sees whether its connection is alive, when the machine has got an
    /// address or a route, or was asleep; for ``XMPPClient``.
    public var heedsNetworkChanges = true
    /// How an idle stream is kept alive.
    public var keepalive = Keepalive.ping(after: .seconds(300))
    /// How long the server may take for each step.
    public var timeouts = StreamTimeouts()
    /// What one stanza may ask for.
    public var limits = XMLLimits.session
    /// The language of this side's human-readable text (RFC 6120 §4.7.4), such as `en`.
    public var language: String?
    /// What is answered to those who may ask for name and version (XEP-0092, XEP-0030).
    public var software = SoftwareIdentity()
    /// What kind of client this says it is (XEP-0030): a registered type of the category `client`, such as `bot`,
    /// `console`, `pc`, `phone` or `web`.
    public var clientType = "console"
    /// What this client can show of messages, as namespaces that service discovery names (XEP-0030): everything that
    /// ``ChatMessage`` tells, unless said otherwise. Empty it in a client that shows plain text alone, so that others
    /// do not send what it does not show.
    public var messageFeatures = ChatMessage.features
    /// Called with what the stream does, on the stream's executor: it must not block.
    public var log: (@Sendable (StreamLogEntry) -> Void)?
    /// The most detailed level that ``log`` is called for.
    public var logLevel = StreamLogEntry.Level.step

    /// Whether the stream is one of those without a login (XEP-0077 §3.1.1).
    package var isForRegistration = false
    /// Whether the stream logs in with the token of an earlier login to end it, and for nothing else (XEP-0484 §3.6).
    var endsToken = false
    /// Who hears synchronously what the stream does.
    package var observer: StreamObserver?
    /// Who counts what goes over the stream.
    package var meter: TrafficMeter?
    /// Whether a stream goes as far as the features and no further: it logs nobody in, not even without an account.
    package var looksOnly = false
    /// TLS contexts, shared by the copies of a configuration.
    package var tlsContexts = TLSContextCache()
    /// What domains publish about ways to reach them, shared by the copies of a configuration.
    var hostMeta = HostMetaCache()
    /// What the hashes in presences were found to stand for, shared by the copies of a configuration.
    var capabilities = CapabilitiesCache()
    /// What the server was seen to take, shared by the copies of a configuration.
    var stanzaCeiling = StanzaCeiling()
    /// Where connections come from.
    package var connector: any StreamConnector = NetworkConnector()
    /// Where time comes from.
    package var clock: any StreamClock = SystemClock()
    /// Where ids and nonces come from.
    package var random: any RandomSource = RandomReserve.shared
    /// What works the keys of SCRAM out, on a queue of its own. Its type's own method unless a test wants to hold it.
    package var derivation: @Sendable (SCRAMKeyDerivation) throws(CryptoError) -> SCRAMKeyMaterial = {
        (work) throws(CryptoError) in try work.keys()
    }

    /// Makes a configuration for an account.
    ///
    /// - Parameters:
    ///   - jid: The account's address.
    ///   - password: Its password.
    public init(jid: JID, password: Password?) {
        self.jid = jid
        self.password = password
    }
}

/// A password: wiped from memory when nobody refers to it any more, with all that was worked out of it, and never part
/// of any description.
public struct Password: Sendable, CustomStringConvertible, CustomDebugStringConvertible, ExpressibleByStringLiteral {
    /// The bytes, for those who compute with them.
    package let secret: SecretBytes
    /// What the last login with SCRAM has worked out of it.
    private let keys = Locked<SCRAMKeyMaterial?>(nil)

    /// The keys that the last login has worked out, so that the next one to the same account need not (RFC 5802 §5.1).
    /// They are shared by the copies of this value, and wiped together with the password.
    package var keptKeys: SCRAMKeyMaterial? { keys.withLock { $0 } }

    /// Keeps the keys of a login in which the server has proven itself, in place of earlier ones.
    package func keep(_ keys: SCRAMKeyMaterial) {
        self.keys.withLock { $0 = keys }
    }

    /// Takes a password over. The string itself stays in memory until Swift releases it: read secrets as bytes where
    /// that matters.
    public init(_ text: String) {
        secret = SecretBytes(Array(text.utf8))
    }

    /// Takes the UTF-8 bytes of a password over.
    public init(utf8 bytes: [UInt8]) {
        secret = SecretBytes(bytes)
    }

    /// A password written in the source, for examples and tests.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// Says that there is a password, not which.
    public var description: String { "(password)" }

    /// Says that there is a password, not which.
    public var debugDescription: String { description }
}

/// What this client calls itself.
public struct SoftwareIdentity: Sendable, Hashable {
    /// The name of the software.
    public var name: String
    /// Its version.
    public var version: String
    /// The operating system; `nil` is not told.
    public var operatingSystem: String?

    /// Makes an identity.
    public init(name: String = "swift-xmpp", version: String = XMPPVersion.current, operatingSystem: String? = nil) {
        self.name = name
        self.version = version
        self.operatingSystem = operatingSystem
    }
}

/// The version of this library.
public enum XMPPVersion {
    /// As in the change log.
    public static let current = "0.1.0"
}
