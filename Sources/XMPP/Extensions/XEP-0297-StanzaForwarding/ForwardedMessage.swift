// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
public import XMPPXML

/// A message inside of another one (XEP-0297). It says nothing about who wrote it: only a wrapper whose sender was
/// checked, such as ``MessageCarbon``, makes it more than a quotation.
public struct ForwardedMessage: StanzaPayload, Hashable {
    /// The name of the `<forwarded/>` element.
    public static let elementName = ElementName("forwarded", namespace: "urn:xmpp:forward:0")

    /// The message.
    public var message: Message
    /// When it was sent or received, as whoever forwards it says.
    public var delay: DelayedDelivery?

    /// Wraps a message.
    public init(_ message: Message, delay: DelayedDelivery? = nil) {
        self.message = message
        self.delay = delay
    }

    /// Reads a `<forwarded/>` element; `nil` unless it holds exactly one stanza, and that is a message (XEP-0297 §3.1).
    public init?(_ element: Element) {
        guard element.name == Self.elementName else { return nil }
        var stanzas: [Element] = []
        for case .element(let child) in element.nodes {
            if let known = DelayedDelivery(child) { delay = delay ?? known } else { stanzas.append(child) }
        }
        guard stanzas.count == 1, let message = try? Message(stanzas[0]) else { return nil }
        self.message = message
    }

    /// The `<forwarded/>` element.
    public var element: Element {
        var forwarded = Element(Self.elementName)
        if let delay { forwarded.append(delay.element) }
        forwarded.append(message.element)
        return forwarded
    }
}
