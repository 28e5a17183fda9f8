// SPDX-License-Identifier: Apache-2.0

import XMPPCore
import XMPPXML

@testable import XMPPProtocol

/// Holds the actions of a stream's machine against what must never happen.
struct MachineWatch {
    let permitsLoopback: Bool
    private(set) var isConnected = false
    /// The TLS handshake runs.
    private(set) var isSecuring = false
    /// Credentials may be sent.
    private(set) var isSecure = false
    /// Our header was sent on the present layer.
    private(set) var isStreamOpen = false
    private(set) var isEstablished = false
    private(set) var hasSentEnd = false
    private(set) var hasEnded = false
    private var hasSentAuth = false
    /// The mechanism in use proves the server too.
    private var needsProof = false
    /// The server has given the proof.
    private var isProven = false
    private var isAuthenticated = false
    private var timers: Set<StreamTimer> = []

    init(permitsLoopback: Bool) {
        self.permitsLoopback = permitsLoopback
    }

    mutating func connected(isLoopback: Bool) {
        isConnected = true
        isSecure = isLoopback && permitsLoopback
    }

    mutating func secured() {
        isSecuring = false
        isSecure = true
    }

    /// The server is about to say what only a server says that knows the keys.
    mutating func proved() {
        isProven = true
    }

    /// Whether a timer runs; it has run out then.
    mutating func fires(_ timer: StreamTimer) -> Bool {
        timers.remove(timer) != nil
    }

    mutating func saw(_ actions: [StreamAction]) throws(BrokenRule) {
        try require(actions.count < 40, "\(actions.count) actions at once")
        for action in actions { try saw(action) }
        try require(!hasEnded || timers.isEmpty, "timers of a stream that is over: \(timers)")
    }

    private mutating func saw(_ action: StreamAction) throws(BrokenRule) {
        switch action {
        case .closeTransport, .abortTransport:
            return try require(hasEnded, "the transport is closed before the stream's end")
        case .cancel(let timer):
            timers.remove(timer)
            return
        default: try require(!hasEnded, "after the end: \(action)")
        }
        switch action {
        case .openStream(let header): try opened(header)
        case .send(let element): try sent(element)
        case .sendWhitespace: try require(isStreamOpen && !hasSentEnd, "white space outside of a stream")
        case .endStream:
            try require(isStreamOpen, "the end of a stream that was not opened")
            try require(!hasSentEnd, "the end of the stream twice")
            hasSentEnd = true
        case .startTLS:
            try require(!isSecuring && !hasSentEnd, "TLS in TLS")
            isSecuring = true
            // What was learnt and permitted before is void (RFC 6120 §5.4.3.3).
            isSecure = false
            isStreamOpen = false
        case .schedule(let timer, let delay):
            try require(delay > .zero, "the timer \(timer) without a delay")
            timers.insert(timer)
        case .emit(let occurrence): try occurred(occurrence)
        case .deriveKeys:
            // RFC 6120 §13.8.3: what the password proves is for a protected server that was asked.
            try require(isSecure && hasSentAuth && !isAuthenticated && !hasSentEnd, "keys are wanted at the wrong time")
        case .restartParser, .limit, .cancel, .closeTransport, .abortTransport: break
        }
    }

    private mutating func opened(_ header: StreamHeader) throws(BrokenRule) {
        try require(isConnected && !isSecuring && !hasSentEnd, "a stream is opened at the wrong time")
        // RFC 6120 §4.7.1: who we are is for protected channels.
        try require(header.from == nil || isSecure, "the own address in the clear")
        isStreamOpen = true
    }

    private mutating func sent(_ element: Element) throws(BrokenRule) {
        try require(isStreamOpen && !hasSentEnd, "outside of a stream: \(element)")
        if element.namespace == Namespace.sasl || element.namespace == Namespace.sasl2 {
            // RFC 6120 §13.8.3, §13.9.4.
            try require(isSecure, "SASL without protection: \(element)")
            if ["auth", "authenticate"].contains(element.localName) {
                hasSentAuth = true
                needsProof = element["mechanism"]?.hasPrefix("SCRAM") == true
                isProven = false
            }
            try require(hasSentAuth && !isAuthenticated, "SASL at the wrong time: \(element)")
        }
        // RFC 6120 §6.3.5, §7.1: no stanza before authentication, and but for binding none before a resource is bound.
        guard StreamManagement.isStanza(element) else { return }
        try require(isAuthenticated, "a stanza before authentication: \(element)")
        let isBinding = element.localName == "iq" && element["type"] == "set"
        try require(isEstablished || isBinding, "a stanza before the session: \(element)")
    }

    private mutating func occurred(_ occurrence: StreamOccurrence) throws(BrokenRule) {
        switch occurrence {
        case .connected: try require(!isEstablished, "connected in a session")
        case .secured: try require(isSecure, "secured without TLS")
        case .authenticated:
            try require(isSecure && hasSentAuth && !isAuthenticated, "authenticated at the wrong time")
            // RFC 5802 §5: a server that has not signed is not believed.
            try require(!needsProof || isProven, "a server is believed that has not proven itself")
            isAuthenticated = true
        case .registering, .answer: throw BrokenRule(description: "a registration that nobody asked for")
        case .tokenEnded: throw BrokenRule(description: "the end of a token that nobody asked for")
        case .token(let token):
            try require(isSecure && hasSentAuth && (token == nil || isAuthenticated), "a token at the wrong time")
        case .established(let session), .resumed(let session):
            try require(isAuthenticated && !isEstablished, "a session at the wrong time")
            try require(session.jid.isFull, "a session without a resource")
            isEstablished = true
        case .notResumed:
            try require(isAuthenticated && !isEstablished, "an earlier session is given up at the wrong time")
        case .stanza(let element): try require(isEstablished, "a stanza before the session: \(element)")
        case .passedOver: throw BrokenRule(description: "something was passed over that nobody asked to")
        case .acknowledged, .doubted: try require(isEstablished, "an acknowledgement before the session")
        case .ended: hasEnded = true
        }
    }
}
