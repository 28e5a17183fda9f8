// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
public import XMPPXML

/// Whom a message is addressed to in particular (XEP-0513).
public struct Mention: StanzaPayload, Hashable {
    /// The namespace of mentions.
    public static let namespace = "urn:xmpp:mentions:0"
    /// The name of the `<mention/>` element.
    public static let elementName = ElementName("mention", namespace: namespace)

    /// Who is addressed.
    public enum Target: Sendable, Hashable {
        /// A person by address.
        case address(JID)
        /// Somebody in the room by their id there (XEP-0421).
        case occupant(String)
        /// A group of people by the URI of its kind, such as ``Mention/room``; `uri` says which where it is not the
        /// present room's.
        case group(String, uri: String?)
    }

    /// The kind of group that is all who are in a room.
    public static let room = namespace + "#channel"

    /// Who is addressed.
    public var target: Target
    /// The part of the text, counted in code points; `nil` for none.
    public var range: Range<Int>?

    /// Makes a mention.
    public init(_ target: Target, range: Range<Int>? = nil) {
        self.target = target
        self.range = range
    }

    /// Reads a `<mention/>` element; `nil` when it addresses nobody, or a part of the text that ends before it begins.
    public init?(_ element: Element) {
        guard element.name == Self.elementName, let range = element.codePointRange else { return nil }
        if let group = element["mentions"] {
            target = .group(group, uri: element["uri"])
        } else if let id = element["occupantid"], !id.isEmpty {
            target = .occupant(id)
        } else if let jid = element["jid"].flatMap({ try? JID($0) }) {
            target = .address(jid)
        } else {
            return nil
        }
        self.range = range
    }

    /// The `<mention/>` element.
    public var element: Element {
        var mention = Element(Self.elementName)
        switch target {
        case .address(let jid): mention["jid"] = jid.description
        case .occupant(let id): mention["occupantid"] = id
        case .group(let group, let uri):
            mention["mentions"] = group
            mention["uri"] = uri
        }
        mention["begin"] = range.map { String($0.lowerBound) }
        mention["end"] = range.map { String($0.upperBound) }
        return mention
    }
}

extension Message {
    /// Whom the message is addressed to in particular, as XEP-0513 and the mentions of XEP-0372 say.
    public var mentions: [Mention] {
        element.children.compactMap { child in
            if let mention = Mention(child) { return mention }
            guard let reference = MessageReference(child), reference.kind == .mention, reference.anchor == nil,
                let jid = XMPPURI(reference.uri)?.jid
            else { return nil }
            return Mention(.address(jid), range: reference.range)
        }
    }
}
