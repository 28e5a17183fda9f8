// SPDX-License-Identifier: Apache-2.0

package import XMPPCore
package import XMPPXML

/// The initiating entity's side of a stream (RFC 6120 §4–§7), without I/O.
///
/// A method is named after what happened and returns what has to be done about it, in order. The machine has no clock
/// and no socket: its owner performs the actions and tells it what came of them.
package struct StreamStateMachine: Sendable {
    /// How far the negotiation has come.
    package enum State: Sendable {
        /// Nothing was sent.
        case idle
        /// Our header was sent; the server's is awaited.
        case opening(Layer)
        /// The server's header arrived; its features are awaited.
        case awaitingFeatures(Layer)
        /// `<starttls/>` was sent.
        case startingTLS
        /// The TLS handshake runs.
        case securing
        /// SASL runs.
        case authenticating(SASLNegotiation)
        /// There will be no login: requests are answered that come before one (XEP-0077 §3.1.1).
        case registering
        /// `<resume/>` was sent.
        case resuming(StreamFeatures)
        /// A resource is being bound.
        case binding(ResourceBinding, StreamFeatures)
        /// Stanzas flow.
        case established
        /// Our end of the stream was sent; the server's is awaited.
        case closing(StreamEnd)
        /// The stream is over.
        case ended
    }

    /// What protects the stream at a restart, and whether the user is authenticated.
    package enum Layer: Sendable, Equatable {
        /// Plain TCP: nothing may be sent but a request for TLS.
        case unprotected
        /// Credentials may be sent.
        case protected(SecureChannel)
        /// SASL has succeeded.
        case authenticated
        /// SASL has succeeded, and a resource was bound with it (XEP-0386).
        case bound(InlineSession)
    }

    /// What the stream was told.
    package private(set) var configuration: StreamConfiguration
    /// How far the stream has come.
    package internal(set) var state = State.idle {
        didSet { if case .established = state { isEstablished = true } else { isEstablished = false } }
    }
    /// Whether stanzas may be sent. Kept beside the state, which is large to look at for each stanza.
    package private(set) var isEstablished = false
    /// Acknowledgements (XEP-0198).
    package internal(set) var management = StreamManagement()
    /// The largest first-level element that the server takes, in bytes (XEP-0478); `nil` when it did not say.
    package internal(set) var maximumOutgoingBytes: Int?
    /// What an earlier connection left, until it is resumed or repeated.
    var inheritance: StreamState?
    /// What was offered when that session was established: a resumption together with the authentication brings no
    /// features.
    let inheritedFeatures: StreamFeatures?
    /// Why the server did not resume it.
    var refusal: StanzaError.Condition?
    /// Whether the server has said how far it was when it did not resume it.
    var isRefusalCounted = false
    /// Whether what the server of an earlier session has not acknowledged is left to the owner, in ``unsettled``,
    /// instead of being repeated at once.
    package let leavesRepeating: Bool
    /// Whether those to rooms are left to the owner in any case: who is not in the room any more has to enter it first.
    package let leavesRoomMessages: Bool
    /// Whether messages of a session that is resumed are left to the owner too, who finds out whether the server has
    /// them.
    package let leavesDoubted: Bool
    /// The messages that the server of an earlier session has not acknowledged, for the owner to take.
    package var unsettled: [UnacknowledgedStanza] = []
    /// The address of the session.
    var boundAddress: JID?
    /// What this connection left.
    private var leftover: StreamState?
    /// What was sent before it was known to be welcome, until that is known.
    var anticipation: Anticipation?
    /// Whether anything was sent because of what the server offered at an earlier login.
    package internal(set) var hasAnticipated = false
    /// What the login was bound to; `nil` for nothing, or before it.
    package internal(set) var channelBinding: ChannelBindingType?
    /// The keys that the login has worked out or used, once the server has proven itself: worth keeping for the next.
    package internal(set) var scramKeys: SCRAMKeyMaterial?
    /// What the server has offered on this connection.
    package internal(set) var offered = OfferedFeatures()
    var hasAnnouncedConnection = false
    var keepalive = KeepaliveState()
    var unfinished = UnfinishedStanza()
    /// Whether the timer runs after which an acknowledgement is asked for.
    var isAcknowledgementDue = false

    /// Makes a machine for one connection.
    ///
    /// - Parameters:
    ///   - configuration: What the stream is told.
    ///   - state: What an earlier connection left: it is resumed, or repeated, once.
    ///   - features: What the server offered in that session, where that is known.
    ///   - leavesRepeating: Whether the owner repeats what has to be repeated.
    ///   - leavesRoomMessages: Whether the owner repeats at least what has to be repeated in rooms (XEP-0045).
    ///   - leavesDoubted: Whether the owner repeats the messages of a session that is resumed: the server may be at
    ///     work on them still.
    package init(
        configuration: StreamConfiguration, resuming state: StreamState? = nil, features: StreamFeatures? = nil,
        leavesRepeating: Bool = false, leavesRoomMessages: Bool = false, leavesDoubted: Bool = false
    ) {
        self.configuration = configuration
        self.leavesRepeating = leavesRepeating
        self.leavesRoomMessages = leavesRoomMessages
        self.leavesDoubted = leavesDoubted
        inheritance = state
        inheritedFeatures = features
    }

    /// What the next connection needs to go on from here; `nil` where nothing is left.
    package var resumableState: StreamState? {
        switch state {
        case .ended: leftover
        case .established, .closing: boundAddress.flatMap(management.state(of:))
        case .idle, .opening, .awaitingFeatures, .startingTLS, .securing, .authenticating, .registering, .resuming,
            .binding:
            inheritance
        }
    }

    /// What an earlier connection left has grown since this machine was made, as it does while another one runs beside
    /// it.
    ///
    /// Before the server has offered anything; later it is too late.
    ///
    /// - Parameters:
    ///   - state: What is to be resumed or repeated now.
    ///   - token: The token of an earlier login, with the number of the next attempt: another connection may have used
    ///     the one that was next when this machine was made (XEP-0484 §3.4). `nil` when there is none any more.
    package mutating func inherit(_ state: StreamState?, token: LoginToken?) {
        switch self.state {
        case .idle, .opening, .awaitingFeatures, .securing:
            inheritance = state
            configuration.authentication.token = token
        case .startingTLS, .authenticating, .registering, .resuming, .binding, .established, .closing, .ended: break
        }
    }

    /// How many stanzas of the session were handled, modulo 2^32, whether it has a connection or not.
    package var handledCount: UInt32 {
        switch state {
        case .ended: leftover?.handled ?? 0
        case .established, .closing: management.handled
        case .idle, .opening, .awaitingFeatures, .startingTLS, .securing, .authenticating, .registering, .resuming,
            .binding:
            inheritance?.handled ?? 0
        }
    }

    /// Whether bytes must be parsed one event at a time: until the session is established, what follows an event may
    /// belong to another layer (RFC 6120 §5.3.3, §6.3.5).
    package var isNegotiating: Bool { !isEstablished }

    /// Whether the stream is over.
    package var hasEnded: Bool {
        if case .ended = state { true } else { false }
    }

    // MARK: What happened to the transport

    /// A transport is there.
    ///
    /// - Parameters:
    ///   - directTLS: Whether TLS comes first (XEP-0368); otherwise the stream does.
    ///   - peerIsLoopback: Whether the peer's address is a loopback address.
    package mutating func transportConnected(directTLS: Bool, peerIsLoopback: Bool) -> [StreamAction] {
        guard case .idle = state else { return [] }
        let deadline = StreamAction.schedule(.negotiation, after: configuration.timeouts.negotiation)
        if directTLS {
            state = .securing
            return [deadline, .startTLS]
        }
        let channel = SecureChannel.plaintext(peerIsLoopback: peerIsLoopback, policy: configuration.security)
        return [deadline] + open(channel.map(Layer.protected) ?? .unprotected)
    }

    /// The TLS handshake is done, and the certificate proves the account's domain.
    package mutating func tlsEstablished(_ channel: SecureChannel) -> [StreamAction] {
        guard case .securing = state else { return [] }
        return [.emit(.secured)] + open(.protected(channel))
    }

    /// The transport is gone.
    ///
    /// - Parameter reason: What happened, for people; empty when the peer just closed.
    package mutating func transportEnded(_ reason: String) -> [StreamAction] {
        switch state {
        case .ended: return []
        case .closing(let end): return finish(end)
        case .idle, .opening, .awaitingFeatures, .startingTLS, .securing, .authenticating, .registering, .resuming,
            .binding,
            .established:
            return finish(.transportEnded(reason))
        }
    }

    /// The peer will send nothing more. Without the end of the stream before it, something may be missing.
    package mutating func inputEnded() -> [StreamAction] {
        transportEnded("the server closed the connection without ending the stream") + [.abortTransport]
    }

    // MARK: What the application wants

    /// The application sends a first-level element on an established stream.
    ///
    /// - Returns: What to write; empty when the stream is not established.
    package mutating func send(_ element: Element) -> [StreamAction] {
        isEstablished ? [.send(element)] + wrote(element) : []
    }

    /// The application has written a first-level element by itself.
    ///
    /// - Parameters:
    ///   - element: What was written.
    ///   - bytes: How many bytes it had.
    ///   - time: The wall-clock time, for the case that it has to be repeated.
    package mutating func wrote(
        _ element: Element, bytes: Int = StreamManagement.assumedBytes, at time: DateTime? = nil
    ) -> [StreamAction] {
        management.sent(element, bytes: bytes, at: time)
        guard !management.owesTooMuch else {
            return violate(StreamError(.resourceConstraint, text: "you acknowledge nothing of what you are sent"))
        }
        return askLater()
    }

    /// An acknowledgement is asked for a moment later, unless that is settled or nothing is unacknowledged.
    mutating func askLater() -> [StreamAction] {
        guard management.isOn, !isAcknowledgementDue, management.unacknowledged > 0 else { return [] }
        isAcknowledgementDue = true
        return [.schedule(.acknowledgement, after: configuration.timeouts.acknowledgement)]
    }

    /// The application has sent what it had: an acknowledgement may be asked for at once. Where the server has not said
    /// whether it does that, a ping finds out: an answer behind which there is none is one.
    package mutating func burstSent() -> [StreamAction] {
        guard isEstablished else { return [] }
        if management.isUndecided { return management.unacknowledged > 0 ? askForSignOfLife() : [] }
        guard let request = management.request() else { return [] }
        return [.send(request), .schedule(.answer, after: configuration.timeouts.answer)]
    }

    /// Stanzas that were emitted have been kept or dealt with: only now do they count (XEP-0198 §4).
    ///
    /// - Returns: What to write about it.
    package mutating func handledStanzas(_ count: UInt32) -> [StreamAction] {
        if isEstablished { return management.handledStanzas(count).map { [.send($0)] } ?? [] }
        switch state {
        case .ended: leftover?.handled &+= count
        case .established, .closing: _ = management.handledStanzas(count)
        case .idle, .opening, .awaitingFeatures, .startingTLS, .securing, .authenticating, .registering, .resuming,
            .binding:
            break
        }
        return []
    }

    /// The application has a stanza to send while there is no session to send it in: where one waits to be resumed, it
    /// waits with it, as if it had been sent and lost.
    ///
    /// - Returns: Whether it does.
    @discardableResult
    package mutating func keep(_ element: Element, at time: DateTime) -> Bool {
        guard var waiting = resumableState, waiting.id != nil, StreamManagement.isStanza(element),
            waiting.unacknowledged.count < StreamManagement.maximumUnacknowledged
        else { return false }
        waiting.unacknowledged.append(UnacknowledgedStanza(element, sentAt: time))
        switch state {
        case .ended: leftover = waiting
        case .established, .closing: return false
        case .idle, .opening, .awaitingFeatures, .startingTLS, .securing, .authenticating, .registering, .resuming,
            .binding:
            inheritance = waiting
        }
        return true
    }

    /// One stanza that was emitted has been kept or dealt with; see ``handledStanzas(_:)``.
    package mutating func handledStanza() {
        management.handledStanza()
    }

    /// What arrives from now on is left to the server (XEP-0198 §4).
    package mutating func leaveTheRest() {
        management.leaveTheRest()
    }

    /// The application wants the stream to end.
    package mutating func close() -> [StreamAction] {
        switch state {
        case .ended, .closing: return []
        case .idle, .securing: return finish(.closed) + [.abortTransport]
        case .opening, .awaitingFeatures, .startingTLS, .authenticating, .resuming, .binding:
            return abandon(.closed)
        case .registering:
            return end(with: .closed)
        case .established:
            // The last word on what arrived, so that the server re-sends nothing (XEP-0198 §4).
            let farewell: [StreamAction] = management.isOn ? [.send(management.answer)] : []
            return farewell + end(with: .closed)
        }
    }

    // MARK: Ends

    /// Ends the stream from this side and waits for the server to end its own (RFC 6120 §4.4).
    mutating func end(with reason: StreamEnd) -> [StreamAction] {
        state = .closing(reason)
        return [
            .cancel(.keepalive), .cancel(.acknowledgement), .cancel(.answer), .cancel(.stanza), .endStream,
            .schedule(.closing, after: configuration.timeouts.closing),
        ]
    }

    /// Ends the stream because the server broke a rule: it is told which one, and nothing more is read.
    mutating func violate(_ error: StreamError) -> [StreamAction] {
        [.send(error.element), .endStream] + finish(.violation(error)) + [.closeTransport]
    }

    /// Gives the connection up without another byte that the other side could use.
    mutating func abandon(_ reason: StreamEnd) -> [StreamAction] {
        [.endStream] + finish(reason) + [.closeTransport]
    }

    /// Records that the stream is over.
    mutating func finish(_ reason: StreamEnd) -> [StreamAction] {
        leftover = remains(after: reason)
        state = .ended
        management = StreamManagement()
        return StreamTimer.allCases.map(StreamAction.cancel) + [.emit(.ended(reason))]
    }

    /// Sends a stream header for a layer and takes a new parser for the answer.
    mutating func open(_ layer: Layer) -> [StreamAction] {
        state = .opening(layer)
        let isProtected = layer != .unprotected
        let limits = layer == .authenticated ? configuration.sessionLimits : configuration.limitsBeforeAuthentication
        let header = StreamHeader(
            to: configuration.account.domainpart,
            from: isProtected && !configuration.account.isDomain ? configuration.account.description : nil,
            language: configuration.language)
        return [.restartParser(limits), .openStream(header)] + anticipate(layer)
    }
}
