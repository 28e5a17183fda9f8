// SPDX-License-Identifier: Apache-2.0

public import XMPPCore

/// Hears of messages.
///
/// The rules of ``ChatDelegate`` hold; an object that is both gets all calls in one order.
public protocol MessageDelegate: AnyObject, Sendable {
    /// A message arrived; its sender is filled in. Bounces do not come here.
    func stream(_ stream: XMPPStream, didReceive message: Message) async

    /// The addressee's client has received a message that was sent on this stream (XEP-0184).
    func stream(_ stream: XMPPStream, didReceiveReceiptFor messageID: String, from jid: JID) async

    /// The addressee has displayed everything up to a message that was sent by this account (XEP-0333); in a room, the
    /// id is the one that the room gave.
    func stream(_ stream: XMPPStream, didDisplayUpTo messageID: String, from jid: JID) async

    /// Another client of the account has sent or received a message (XEP-0280); only after
    /// ``XMPPStream/enableCarbons()``.
    func stream(_ stream: XMPPStream, didReceive carbon: MessageCarbon) async

    /// Somebody asks the user into a room (XEP-0249).
    func stream(_ stream: XMPPStream, didReceive invitation: RoomInvitation) async

    /// A stanza, a message as a rule, was past a limit (``XMPPConfiguration/limits``) and was not read: what is known
    /// of it.
    func stream(_ stream: XMPPStream, didNotRead stanza: OversizedStanza) async

    /// A message that was sent came back (RFC 6120 §8.3).
    ///
    /// - Parameters:
    ///   - stream: The stream that it was sent on.
    ///   - message: The bounce: its id is that of the message sent, its sender the address that it was sent to.
    ///   - error: Why.
    func stream(_ stream: XMPPStream, didBounce message: Message, error: StanzaError) async
}

extension MessageDelegate {
    /// Does nothing.
    public func stream(_ stream: XMPPStream, didReceive message: Message) async {}
    /// Does nothing.
    public func stream(_ stream: XMPPStream, didNotRead stanza: OversizedStanza) async {}
    /// Does nothing.
    public func stream(_ stream: XMPPStream, didBounce message: Message, error: StanzaError) async {}
    /// Does nothing.
    public func stream(_ stream: XMPPStream, didDisplayUpTo messageID: String, from jid: JID) async {}
    /// Does nothing.
    public func stream(_ stream: XMPPStream, didReceive carbon: MessageCarbon) async {}
    /// Does nothing.
    public func stream(_ stream: XMPPStream, didReceive invitation: RoomInvitation) async {}
    /// Does nothing.
    public func stream(_ stream: XMPPStream, didReceiveReceiptFor messageID: String, from jid: JID) async {}
}
