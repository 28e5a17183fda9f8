// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
internal import XMPPProtocol
internal import XMPPXML

/// A copy of a message that another client of the same account has sent or received (XEP-0280).
public struct MessageCarbon: Sendable, Hashable {
    /// The namespace of copies.
    public static let namespace = "urn:xmpp:carbons:2"

    /// Which way the message went.
    public enum Direction: String, Sendable, Hashable, CaseIterable {
        /// Somebody sent it to another client of the account.
        case received
        /// Another client of the account sent it.
        case sent
    }

    /// Which way the message went.
    public var direction: Direction
    /// The message. Of a received one the sender, of a sent one the addressee is the other side of the conversation.
    public var message: Message
    /// When it was copied.
    public var delay: DelayedDelivery?

    /// Makes a copy.
    public init(_ direction: Direction, _ message: Message, delay: DelayedDelivery? = nil) {
        self.direction = direction
        self.message = message
        self.delay = delay
    }

    /// What asks for copies.
    static var enableRequest: Element { Element("enable", namespace: namespace) }

    /// Reads the wrapper in a message whose sender was found to be the own account; `nil` when the wrapper holds
    /// anything but one message, or one that does not concern the account: the server copies nobody else's (XEP-0280
    /// §6).
    init?(_ wrapper: Element, account: JID) {
        guard wrapper.namespace == Self.namespace, let direction = Direction(rawValue: wrapper.localName),
            wrapper.children.count == 1, let forwarded = wrapper.children.first.flatMap(ForwardedMessage.init)
        else { return nil }
        let message = forwarded.message
        let own = direction == .sent ? message.from : message.to
        guard own?.bare == account.bare, direction == .sent || message.from != nil else { return nil }
        self.init(direction, message, delay: forwarded.delay)
    }
}

extension Message {
    /// Whether the message is for one client alone: servers make no copies of it (XEP-0280 §9).
    public var isPrivate: Bool {
        get { hasPayload("private", namespace: MessageCarbon.namespace) }
        set {
            removePayloads("private", namespace: MessageCarbon.namespace)
            hints.remove(.noCopy)
            guard newValue else { return }
            append(Element("private", namespace: MessageCarbon.namespace))
            hints.insert(.noCopy)
        }
    }
}

extension XMPPStream {
    /// Asks the server for copies of what the account's other clients send and receive (XEP-0280 §4), from now on in
    /// this session. They are reported as ``XMPPEvent/carbon(_:)``.
    ///
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``: a server that does not do it answers with an error.
    public func enableCarbons() async throws(XMPPError) {
        try await request(IQ(.set, payload: MessageCarbon.enableRequest))
    }

    /// Has copies asked for together with the next binding of a resource, where the server can do that (XEP-0386 §3.2).
    func wishForCarbons() {
        inlineWishes.append(InlineFeature(name: MessageCarbon.namespace, request: MessageCarbon.enableRequest))
    }

    /// Asks for copies without waiting, so that more can go out in the same flight, unless the binding of the resource
    /// has brought them. A server that makes none is none the worse.
    package func requestCarbons() async throws(XMPPError) {
        guard !inlineFeatures.contains(MessageCarbon.namespace) else { return }
        abandon(try await ask(IQ(.set, payload: MessageCarbon.enableRequest)))
    }

    /// Asks for no more copies (XEP-0280 §5).
    ///
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``.
    public func disableCarbons() async throws(XMPPError) {
        try await request(IQ(.set, payload: Element("disable", namespace: MessageCarbon.namespace)))
    }
}

extension StanzaRoutes {
    /// Takes copies from the own account alone: who else sends one puts words into other people's mouths (XEP-0280
    /// §11).
    mutating func addMessageCarbons() {
        for direction in MessageCarbon.Direction.allCases {
            addMessage(direction.rawValue, namespace: MessageCarbon.namespace, from: .ownAccount, feature: nil) {
                (stream, _, wrapper) in
                // A wrapper that makes no sense is not shown either: there is nothing in it for anybody to read.
                guard let carbon = MessageCarbon(wrapper, account: stream.account) else { return .dropped }
                if carbon.direction == .sent, let id = carbon.message.id, let to = carbon.message.to {
                    // Its receipts come here too.
                    stream.sentMessages.sent(id: id, to: to)
                }
                return .event(.carbon(carbon))
            }
        }
    }
}
