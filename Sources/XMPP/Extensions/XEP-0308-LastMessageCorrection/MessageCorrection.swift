// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
public import XMPPXML

/// That a message takes the place of an earlier one (XEP-0308). Whether it may is for ``ChatMessage/revises(_:)`` to
/// say.
public struct MessageCorrection: StanzaPayload, Hashable {
    /// The name of the `<replace/>` element.
    public static let elementName = ElementName("replace", namespace: "urn:xmpp:message-correct:0")

    /// The id of the message that is corrected, as its sender gave it; of the first one where it was corrected before.
    public var id: String

    /// Makes a correction.
    public init(_ id: String) {
        self.id = id
    }

    /// Reads a `<replace/>` element; `nil` when it names no message.
    public init?(_ element: Element) {
        guard element.name == Self.elementName, let id = element["id"], !id.isEmpty else { return nil }
        self.id = id
    }

    /// The `<replace/>` element.
    public var element: Element { Element(Self.elementName, attributes: ["id": id]) }
}

extension Message {
    /// The id of the earlier message that this one takes the place of; `nil` when it is no correction.
    public var correctedID: String? {
        get { payload(MessageCorrection.self)?.id }
        set {
            removePayload(MessageCorrection.self)
            if let newValue { setPayload(MessageCorrection(newValue)) }
        }
    }

    /// This message with another text, in place of itself: everything else is repeated (XEP-0308 §4).
    public func corrected(_ body: String) -> Message {
        var correction = self
        correction.correctedID = correctedID ?? id
        correction.id = nil
        correction.body = body
        return correction
    }
}
