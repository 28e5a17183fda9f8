// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
public import XMPPProtocol

/// Hears of the connection and of who is online.
///
/// Calls come one after another, in the order of what happened. They come to the actor that the delegate belongs to: a
/// class marked `@MainActor` hears of everything there, an actor on itself, any other class on no actor. A stream holds
/// its delegates weakly. While a delegate is far behind (1,000 events), the stream stops reading from the server. Every
/// method has a default that does nothing.
public protocol ChatDelegate: AnyObject, Sendable {
    /// The server speaks XMPP; negotiation goes on.
    func streamDidConnect(_ stream: XMPPStream) async

    /// The server has another key than at every login that is remembered. The login goes on:
    /// ``XMPPStream/disconnect()`` ends it.
    func stream(_ stream: XMPPStream, serverDidChangeKey change: ServerKeyChange) async

    /// The session is established under `jid`, the full address that the server bound.
    func stream(_ stream: XMPPStream, didAuthenticateAs jid: JID) async

    /// The connection was lost. The session is not over: buddies stay as they are, requests go on waiting, and
    /// ``streamDidResume(_:)`` follows, or ``stream(_:didNotResume:)`` when the server has given the session up.
    func streamWasInterrupted(_ stream: XMPPStream, error: XMPPError) async

    /// The session goes on, on another connection. What either side had sent meanwhile is delivered, once.
    func streamDidResume(_ stream: XMPPStream) async

    /// The server did not resume the session. The messages that it had not acknowledged are sent again in a new one, of
    /// which ``stream(_:didAuthenticateAs:)`` tells next; who is online is found out anew.
    func stream(_ stream: XMPPStream, didNotResume outcome: FailedResumption) async

    /// The stream is over; `error` is `nil` when this side closed it.
    func streamDidDisconnect(_ stream: XMPPStream, error: XMPPError?) async

    /// The first resource of a contact came online.
    func stream(_ stream: XMPPStream, buddyCameOnline buddy: Buddy) async

    /// A contact that is online has other resources, another show or status, or another name now.
    func stream(_ stream: XMPPStream, buddyChanged buddy: Buddy) async

    /// The last resource of a contact went offline, or the stream ended.
    func stream(_ stream: XMPPStream, buddyWentOffline buddy: Buddy) async

    /// A presence stanza arrived, those that make a buddy come and go included; its sender is filled in.
    func stream(_ stream: XMPPStream, didReceive presence: Presence) async

    /// Somebody asks to see the user's presence (RFC 6121 §3.1.3). Nothing is answered by itself:
    /// see ``XMPPStream/approveSubscription(of:)`` and ``XMPPStream/denySubscription(of:)``.
    func stream(_ stream: XMPPStream, didReceiveSubscriptionRequest request: Presence) async

    /// The roster arrived or changed.
    func stream(_ stream: XMPPStream, didUpdateRoster update: RosterUpdate) async

    /// Somebody was blocked or unblocked (XEP-0191); only after ``XMPPStream/blockList()``.
    func stream(_ stream: XMPPStream, didUpdateBlockList change: BlockListChange) async
}

extension ChatDelegate {
    /// Does nothing.
    public func streamDidConnect(_ stream: XMPPStream) async {}
    /// Does nothing.
    public func stream(_ stream: XMPPStream, serverDidChangeKey change: ServerKeyChange) async {}
    /// Does nothing.
    public func stream(_ stream: XMPPStream, didAuthenticateAs jid: JID) async {}
    /// Does nothing.
    public func stream(_ stream: XMPPStream, buddyCameOnline buddy: Buddy) async {}
    /// Does nothing.
    public func stream(_ stream: XMPPStream, buddyChanged buddy: Buddy) async {}
    /// Does nothing.
    public func stream(_ stream: XMPPStream, buddyWentOffline buddy: Buddy) async {}
    /// Does nothing.
    public func stream(_ stream: XMPPStream, didReceive presence: Presence) async {}
    /// Does nothing.
    public func stream(_ stream: XMPPStream, didReceiveSubscriptionRequest request: Presence) async {}
    /// Does nothing.
    public func stream(_ stream: XMPPStream, didUpdateRoster update: RosterUpdate) async {}
    /// Does nothing.
    public func stream(_ stream: XMPPStream, didUpdateBlockList change: BlockListChange) async {}
    /// Does nothing.
    public func streamWasInterrupted(_ stream: XMPPStream, error: XMPPError) async {}
    /// Does nothing.
    public func streamDidResume(_ stream: XMPPStream) async {}
    /// Does nothing.
    public func stream(_ stream: XMPPStream, didNotResume outcome: FailedResumption) async {}
    /// Does nothing.
    public func streamDidDisconnect(_ stream: XMPPStream, error: XMPPError?) async {}
}
