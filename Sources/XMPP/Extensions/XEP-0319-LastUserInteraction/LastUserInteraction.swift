// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
public import XMPPXML

/// Since when a user has done nothing (XEP-0319).
public struct LastUserInteraction: StanzaPayload, Hashable {
    /// The name of the `<idle/>` element.
    public static let elementName = ElementName("idle", namespace: "urn:xmpp:idle:1")

    /// The moment of the last interaction.
    public var since: DateTime

    /// Makes an interaction.
    public init(since: DateTime) {
        self.since = since
    }

    /// Reads an `<idle/>` element; `nil` when it names no moment.
    public init?(_ element: Element) {
        guard element.name == Self.elementName, let since = element["since"].flatMap(DateTime.init) else { return nil }
        self.since = since
    }

    /// The `<idle/>` element.
    public var element: Element {
        Element(Self.elementName, attributes: ["since": since.description])
    }
}

extension Presence {
    /// Since when the user of the resource has done nothing (XEP-0319); `nil` when that is not told.
    public var idleSince: DateTime? {
        get { payload(LastUserInteraction.self)?.since }
        set {
            removePayload(LastUserInteraction.self)
            if let newValue { setPayload(LastUserInteraction(since: newValue)) }
        }
    }
}
