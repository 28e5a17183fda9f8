// SPDX-License-Identifier: Apache-2.0

package import SocketIO
public import XMPPCore
internal import XMPPCrypto
public import XMPPProtocol
internal import XMPPTransport
internal import XMPPXML

/// One connection to a server, from the first look-up to the end of the stream.
///
/// A stream is used once: ``connect()``, talk, ``disconnect()``. ``XMPPClient`` makes new ones when a connection is
/// lost. What happens is reported to delegates and to asynchronous sequences, in one order.
///
/// ```swift
/// let stream = XMPPStream(XMPPConfiguration(jid: try JID("juliet@example.org"), password: "secret"))
/// try await stream.connect()
/// try await stream.requestRoster()
/// try await stream.send(Presence())
/// try await stream.send(Message(to: try JID("romeo@example.net"), body: "Wherefore art thou?"))
/// await stream.disconnect()
/// ```
///
/// The actor runs on a serial queue of its own, together with its socket and timers.
public actor XMPPStream {
    /// How far a stream has come.
    enum Phase: Sendable {
        case fresh
        case connecting
        /// Nobody logs in: requests are sent that come before a login. This is what the server offers there.
        case registering(StreamFeatures)
        case established
        /// The connection was lost because of this; the session waits to be resumed.
        case interrupted(XMPPError)
        case ended(XMPPError?)
    }

    /// What the stream was told.
    public nonisolated let configuration: XMPPConfiguration

    package nonisolated let executor = StreamExecutor()
    nonisolated let hub: EventHub
    /// The rooms that the user is in, wants to be in, or was in.
    nonisolated let rooms: RoomDirectory
    /// What is known of the account's archive; `nil` where nobody catches up.
    nonisolated let archives: ArchiveLedger?
    /// Whether the hub ends with this stream.
    let ownsHub: Bool

    var phase = Phase.fresh
    var machine: StreamStateMachine
    /// How the stream is written at the present target.
    var framing = StreamFraming.document
    var parser: StreamReader
    var transport: (any ByteTransport)?
    /// Distinguishes the transports of successive attempts: events of an abandoned one are not ours.
    var generation = 0
    /// What was read and not parsed yet; after `<proceed/>` it belongs to TLS.
    var unparsed: ArraySlice<UInt8> = []
    var timers: [StreamTimer: any ScheduledTimer] = [:]
    /// Bytes to write at the end of the present turn.
    var outgoing: [UInt8] = []
    /// How many stanzas are among them.
    var outgoingStanzas: UInt64 = 0
    /// Where the messages among them end, when messages are framed.
    var messageEnds: [Int] = []
    /// Events to publish at the end of the present turn.
    var deliveries: [EventDelivery] = []
    /// How many there were in the last turn.
    var expectedDeliveries = 0
    var isReadingPaused = false
    /// The task that tries one place after another.
    var connecting: Task<Result<JID, XMPPError>, Never>?
    /// Who waits for the present attempt.
    var attempt: CheckedContinuation<AttemptOutcome, Never>?
    var attemptGotFeatures = false
    /// Calls off the connection of the present attempt, while it is being opened.
    var opening: (@Sendable () -> Void)?
    /// The places that are tried beside it.
    var race: PlaceRace?
    /// Whether the handshake of the present attempt has failed after a TLS session was offered: some servers take
    /// offence.
    var hasMissedTLSSession = false
    /// Where the present attempt goes.
    var attemptTarget: ConnectionTarget?
    /// What DNS says about the certificate there.
    var attemptAnswer = DANEAnswer.notAsked
    var tlsContext: TLSContext?
    var attemptEnd: XMPPError?
    /// Whether the server has answered with what ended the attempt, before it had said what it offers.
    var isAttemptAnswered = false
    /// What earlier logins of the account left; `nil` before connecting.
    var memory: LoginMemory?
    /// Whether ``memory`` holds something that is not saved yet.
    var isMemoryChanged = false
    /// Saves it, where that was begun in the middle of a session.
    var savingMemory: Task<Void, Never>?
    var isDisconnecting = false
    /// What to switch on together with the binding of a resource, where the server can do that (XEP-0386).
    var inlineWishes: [InlineFeature] = []
    /// What was switched on with it, by its name in service discovery.
    var inlineFeatures: Set<String> = []

    /// Whether the server is asked to keep the session when the connection is lost.
    let isResumable: Bool
    /// Whether the stream waits for ``reconnect()`` when the connection of a resumable session is lost, instead of
    /// ending.
    var outlivesConnection = false
    /// Whether there is a session, with or without a connection: roster, presences and requests belong to it.
    var isSessionAlive = false
    /// Whether a message has come in this session of which somebody was told.
    var hasHeardMessages = false
    /// How the present connection got its session.
    package internal(set) var start = SessionStart.fresh
    /// Gives the session up when nobody can resume it any more.
    var sessionExpiry: (any ScheduledTimer)?
    /// Stanzas that are in the delegates' hands.
    var ledger = HandlingLedger()
    /// Stanzas received in the present turn and not handed out yet.
    var arrived = ArrivedStanzas()
    /// What waits to be kept before it counts; `nil` where nothing is kept.
    var keeping: KeepingQueue?
    /// Tries again to keep what could not be kept.
    var keepingRetry: (any ScheduledTimer)?
    /// Messages of earlier sessions of which nobody knows whether the server has them, where this side keeps them.
    var unsettled: [UnacknowledgedStanza] = []
    /// Whether the server of the last one has said how far it was.
    var isSettlingCertain = false
    /// Whether the server may still be at work on them.
    var mayBeUnderWay = false
    /// The loss of the last connection; `nil` where it was another stream's.
    var loss: ConnectionLoss?
    /// How often messages of a session that goes on were found to be in doubt.
    var doubts = 0
    /// Whether some of them still are.
    var isInDoubt = false
    /// Looks messages up that are in doubt.
    var settling: Task<Void, Never>?

    var tracker: PresenceTracker
    /// The request for the roster that has no answer yet.
    var rosterRequest: RosterRequest?
    var requests: IQTracker
    var waiters: [String: IQWaiter] = [:]
    /// Requests that were sent and that nobody waits for yet.
    var unawaited: Set<String> = []
    /// The outcomes of such requests; at most as many as requests may be open.
    var earlyAnswers: [String: Result<IQ, XMPPError>] = [:]
    /// Tasks that wait for something else than an answer, in the order in which they began.
    var waitList: [StreamWaiter] = []
    var lastWaiterID = 0
    var routes = StanzaRoutes()
    /// Addresses of stanzas received; the same few come again and again.
    var addresses = JIDCache()
    /// What archives were asked, by the name of the question.
    var archiveQueries: [String: ArchiveCollector] = [:]
    var answersInProgress = 0
    var sentMessages = SentMessages()
    /// Messages of outboxes that were written, and of which it is not known whether the server has them.
    var doubtful: [OutboxKey] = []
    /// Since when rooms have to tell again what was said in them, for the sake of an outbox.
    var doubtfulRooms: [JID: DateTime] = [:]
    /// What was found out about others in the present session.
    var discovered = DiscoveryCache()

    /// The full address of the session; `nil` before it is established.
    public internal(set) var jid: JID?
    /// What the server offers on the authenticated stream; `nil` before the session is established.
    public internal(set) var features: StreamFeatures?
    /// How the channel is protected; `nil` without TLS.
    public internal(set) var security: ChannelSecurity?
    /// Set where the server's key is another one than at every login that is remembered.
    public internal(set) var keyChange: ServerKeyChange?
    /// The key of the server on the present connection.
    var serverKey: ServerKey?
    /// The SASL mechanism that succeeded.
    public internal(set) var mechanism: String?
    /// What the login was bound to, `tls-exporter` (RFC 9266) or `tls-server-end-point` (RFC 5929): nobody can have sat
    /// between the two sides then, whatever their certificate. `nil` when it was bound to nothing.
    public internal(set) var channelBinding: String?
    /// Where the stream is connected to, as `host:port`.
    public internal(set) var endpoint: String?
    /// How often one side had to wait for the other on the present connection, from its first byte to the session:
    /// round trips, those of TLS included and those of TCP not.
    public internal(set) var loginRoundTrips: Int?
    /// What each part of the way to the session on the present connection took, in order; of an attempt that failed,
    /// the parts that were done.
    public internal(set) var loginPhases: [LoginPhase] = []
    /// When the present part began.
    var loginClock = LoginClock(begin: .zero)
    /// Why the stream ended.
    var disconnection: XMPPError?

    /// Makes a stream; nothing happens before ``connect()``.
    ///
    /// - Parameters:
    ///   - configuration: Who to connect as, where to, and how.
    ///   - isResumable: Whether to ask the server to keep the session when the connection is lost (XEP-0198 §5): only
    ///     for who goes on from ``resumableState`` then. ``XMPPClient`` does.
    ///   - state: What an earlier stream left in its ``resumableState``. ``connect()`` resumes that session, or else
    ///     makes a new one and repeats there what the server had not acknowledged; ``isResumed`` tells.
    public init(_ configuration: XMPPConfiguration, isResumable: Bool = false, resuming state: StreamState? = nil) {
        self.init(
            configuration, hub: EventHub(), ownsHub: true, isResumable: isResumable || state != nil, resuming: state)
    }

    /// Makes a stream that reports to a hub which may outlive it.
    package init(
        _ configuration: XMPPConfiguration, hub: EventHub, ownsHub: Bool, isResumable: Bool = false,
        resuming state: StreamState? = nil, keepingIn store: (any StreamStateStore)? = nil
    ) {
        self.init(
            configuration, hub: hub, ownsHub: ownsHub, isResumable: isResumable, resuming: state, keepingIn: store,
            rooms: RoomDirectory())
    }

    /// Makes a stream that shares its rooms with others.
    package init(_ configuration: XMPPConfiguration, rooms: RoomDirectory) {
        self.init(configuration, hub: EventHub(), ownsHub: true, isResumable: false, resuming: nil, rooms: rooms)
    }

    /// Makes a stream that keeps every step of its session in a store, and shares its rooms with others.
    ///
    /// - Parameters:
    ///   - state: What an earlier stream left in the store.
    ///   - store: A store that is told of every step.
    package init(
        _ configuration: XMPPConfiguration, resuming state: StreamState?, keepingIn store: any StreamStateStore,
        rooms: RoomDirectory
    ) {
        self.init(
            configuration, hub: EventHub(), ownsHub: true, isResumable: true, resuming: state, keepingIn: store,
            rooms: rooms)
    }

    /// Makes a stream that shares its rooms, and what it knows of the archive, with others.
    init(
        _ configuration: XMPPConfiguration, hub: EventHub, ownsHub: Bool, isResumable: Bool = false,
        resuming state: StreamState? = nil, keepingIn store: (any StreamStateStore)? = nil, rooms: RoomDirectory,
        archives: ArchiveLedger? = nil
    ) {
        self.configuration = configuration
        self.rooms = rooms
        self.archives = archives
        self.hub = hub
        self.ownsHub = ownsHub
        self.isResumable = isResumable
        if let store, store.keepsProgress {
            keeping = KeepingQueue(store, of: configuration.jid.bare)
        }
        // A stream of its own repeats nothing later: its user is told what was not acknowledged.
        if keeping != nil || !ownsHub { unsettled = state?.unsettled ?? [] }
        machine = StreamStateMachine(
            configuration: configuration.stream(isResumable: isResumable), resuming: state,
            leavesRepeating: keeping != nil || !ownsHub, leavesRoomMessages: !ownsHub,
            leavesDoubted: keeping != nil || !ownsHub)
        parser = StreamReader(limits: .beforeAuthentication)
        tracker = PresenceTracker(account: configuration.jid)
        requests = IQTracker(account: configuration.jid.bare)
        routes.addStandardRoutes()
        routes.announce(configuration.messageFeatures)
        if configuration.sendsReceipts { routes.announce([MessageDeliveryReceipts.namespace]) }
    }

    deinit {
        // A stream that nobody refers to any more: nobody can end it, so it ends here, without a goodbye.
        for timer in timers.values { timer.cancel() }
        sessionExpiry?.cancel()
        keepingRetry?.cancel()
        if let transport { executor.run { transport.abort() } }
        if ownsHub { hub.finish() }
    }

    /// The queue that the actor runs on.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Whether stanzas can be sent: from the binding of the resource until either side ends the stream.
    public var isEstablished: Bool { hasSession && machine.isEstablished }

    /// Whether there is a session on the present connection, be it one that is being closed.
    var hasSession: Bool {
        if case .established = phase { true } else { false }
    }

    /// Whether the session is one that began on an earlier connection.
    public var isResumed: Bool { start != .fresh }

    /// What another stream needs to go on with this session, or to repeat what the server has not acknowledged; `nil`
    /// where nothing is left, as after an orderly end.
    public var resumableState: StreamState? {
        var state = machine.resumableState
        if state == nil, !unsettled.isEmpty { state = StreamState(jid: account, id: nil) }
        state?.unsettled = unsettled
        return state
    }

    /// The buddy as far as it is known: its name in the roster and its resources online.
    public func buddy(_ jid: JID) -> Buddy { tracker.buddy(jid) }

    /// The buddies online, in no order.
    public var buddies: [Buddy] { tracker.buddies }
}

/// How a connection got its session.
package enum SessionStart: Sendable, Hashable {
    /// A resource was bound.
    case fresh
    /// The session of an earlier connection of the same stream goes on: all that was known is still so.
    case resumed
    /// The session of another stream goes on: roster and presences are not known here.
    case inherited
}

/// What became of one attempt at one target.
enum AttemptOutcome: Sendable {
    case established(JID)
    case failed(XMPPError?, FailureExtent)
}

/// How much of a domain has failed with an attempt, and is not tried any more.
enum FailureExtent: Sendable {
    /// One address: it was silent, or ended the connection before it had said what it offers. Others of the host may do
    /// better.
    case address
    /// One place: it has answered, and is not to be trusted or speaks no XMPP. Its other addresses are the same server
    /// as a rule, and what is wrong with it is told at once; other places of the domain may do better.
    case place
    /// The domain: XMPP was spoken, or the way is barred to all of its places.
    case domain
}

/// A request without an answer.
struct IQWaiter {
    let to: JID?
    let continuation: CheckedContinuation<Result<IQ, XMPPError>, Never>
    let timer: any ScheduledTimer
}
