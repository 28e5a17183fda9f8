// SPDX-License-Identifier: Apache-2.0

package import XMPPCore
package import XMPPXML

/// What the owner of a ``StreamStateMachine`` has to do, in order, after telling it what happened.
package enum StreamAction: Sendable, Equatable {
    /// Write the start of a stream.
    case openStream(StreamHeader)
    /// Write a first-level element.
    case send(Element)
    /// Write white space that keeps middleboxes awake (RFC 6120 §4.6.1).
    case sendWhitespace
    /// Write the end of the stream.
    case endStream
    /// Throw the parser away and take a new one: everything learnt before belongs to another layer.
    case restartParser(XMLLimits)
    /// Raise or lower the limits of the present parser.
    case limit(XMLLimits)
    /// Begin the TLS handshake on the present transport, with what is left of the last read as its first bytes.
    case startTLS
    /// Work these keys out where nothing else waits for it, and tell ``StreamStateMachine/keysDerived(_:for:)``.
    case deriveKeys(SCRAMKeyDerivation)
    /// Call ``StreamStateMachine/timerFired(_:)`` after this time; replaces a timer of the same name.
    case schedule(StreamTimer, after: Duration)
    /// Forget a timer.
    case cancel(StreamTimer)
    /// Tell the application.
    case emit(StreamOccurrence)
    /// Flush and close the transport.
    case closeTransport
    /// Close the transport at once.
    case abortTransport
}

/// The timers of a stream.
package enum StreamTimer: Sendable, Hashable, CaseIterable {
    /// The session must be established by then.
    case negotiation
    /// What was sent has waited long enough for the server to be asked whether it has it (XEP-0198 §4).
    case acknowledgement
    /// Nothing was received for a while: ask for a sign of life.
    case keepalive
    /// The sign of life must be there by then.
    case answer
    /// Has the server finished what it began? A quarter of the time that it has for that has passed.
    case stanza
    /// The peer must have closed its side by then.
    case closing
    /// The certificate that proved the server's domain is not valid any longer. Set by the owner, who has a calendar.
    case certificate
}

/// The attributes of a stream header (RFC 6120 §4.7).
package struct StreamHeader: Sendable, Hashable {
    /// The domain asked for.
    package var to: String
    /// The own bare address; sent only where TLS protects it (RFC 6120 §4.7.1).
    package var from: String?
    /// The default language (RFC 6120 §4.7.4).
    package var language: String?

    /// Makes a header.
    package init(to: String, from: String? = nil, language: String? = nil) {
        self.to = to
        self.from = from
        self.language = language
    }
}

/// What a stream tells the application.
package enum StreamOccurrence: Sendable, Equatable {
    /// The server's first features arrived: somebody speaks XMPP at this address.
    case connected
    /// TLS is up and the certificate proves the domain.
    case secured
    /// The channel is secure, and requests may be sent that come before a login. What the server offers is told.
    case registering(StreamFeatures)
    /// A request that came before a login is answered.
    case answer(Element)
    /// SASL succeeded and the server proved itself where the mechanism can do that.
    case authenticated(mechanism: String)
    /// The server gave a token for the next login (XEP-0484); `nil`: it has refused the one there was.
    case token(LoginToken?)
    /// The server has ended the token that it was shown (XEP-0484 §3.6); the stream is being closed, and there is no
    /// session.
    case tokenEnded
    /// The session is usable.
    case established(EstablishedSession)
    /// The session of an earlier connection goes on; what the server had not handled is sent again.
    case resumed(EstablishedSession)
    /// The session of an earlier connection is gone; a new one is about to be established, and the messages that the
    /// server had not handled are sent again there.
    case notResumed(FailedResumption)
    /// A stanza arrived. It counts as handled once the machine is told so.
    case stanza(Element)
    /// A first-level element was passed over, as it was past a limit. A stanza counts as handled once the machine is
    /// told so.
    indirect case passedOver(PassedOverElement)
    /// The server has handled every stanza up to this one, counted from the start, modulo 2^32.
    case acknowledged(UInt32)
    /// Messages of a session that goes on are in ``StreamStateMachine/unsettled``: they count no more, and are sent
    /// anew, or not.
    case doubted
    /// The stream is over. Sent once, last.
    case ended(StreamEnd)
}

/// A session that was just established.
package struct EstablishedSession: Sendable, Equatable {
    /// The full address that the server bound.
    package var jid: JID
    /// The features of the authenticated stream.
    package var features: StreamFeatures
    /// What was switched on together with the binding (XEP-0386), by its name in service discovery.
    package var inlineFeatures: Set<String> = []
}
