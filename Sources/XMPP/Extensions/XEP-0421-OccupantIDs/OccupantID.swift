// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
public import XMPPXML

/// Who somebody in a room is, whatever nickname they have (XEP-0421). It counts from rooms that announce it: they take
/// away what others write.
public struct OccupantID: StanzaPayload, Hashable {
    /// The namespace of ids.
    public static let namespace = "urn:xmpp:occupant-id:0"
    /// The name of the `<occupant-id/>` element.
    public static let elementName = ElementName("occupant-id", namespace: namespace)
    /// How many bytes an id may have; 1,024, some sixteen times what rooms write. One that is longer is none: of two
    /// that begin alike nobody could tell which is whose, and a room has thousands of them.
    public static let maximumBytes = 1_024

    /// The id; it means something in one room only.
    public var id: String

    /// Makes an id.
    public init(_ id: String) {
        self.id = id
    }

    /// Reads an `<occupant-id/>` element; `nil` when it has no id, or one longer than ``maximumBytes``.
    public init?(_ element: Element) {
        guard element.name == Self.elementName, let id = element["id"], !id.isEmpty, id.utf8.count <= Self.maximumBytes
        else { return nil }
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
