// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
public import XMPPXML

/// Who somebody in a room is, whatever nickname they have (XEP-0421). It counts from rooms that announce it: they take away
/// what others write.
public struct OccupantID: StanzaPayload, Hashable {
    /// The namespace of ids.
    public static let namespace = "urn:xmpp:occupant-id:0"
    /// The name of the `<occupant-id/>` element.
    public static let elementName = ElementName("occupant-id", namespace: namespace)

    /// The id; it means something in one room only.
    public var id: String

    /// Makes an id.
    public init(_ id: String) {
        self.id = id
    }

    /// Reads an `<occupant-id/>` element; `nil` when it has no id.
    public init?(_ element: Element) {
        guard element.name == Self.elementName, let id = element["id"], !id.isEmpty else { return nil }
        self.id = id
    }

    /// The `<occupant-id/>` element.
    public var element: Element { Element(Self.elementName, attributes: ["id": id]) }
}

extension Stanza {
    /// Who in the room has sent it; `nil` when the room does not tell, or something else than the room may have told.
    public var occupantID: String? {
        let ids = element.children("occupant-id", namespace: OccupantID.namespace)
        return ids.count == 1 ? OccupantID(ids[0])?.id : nil
    }
}
