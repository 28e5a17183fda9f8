// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
public import XMPPXML

/// What a part of a message's text stands for, such as a person (XEP-0372).
public struct MessageReference: StanzaPayload, Hashable {
    /// The name of the `<reference/>` element.
    public static let elementName = ElementName("reference", namespace: "urn:xmpp:reference:0")

    /// What is referred to.
    public struct Kind: RawRepresentable, Sendable, Hashable {
        /// The name on the wire.
        public let rawValue: String

        /// Takes a name from the wire.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A person.
        public static let mention = Kind(rawValue: "mention")
        /// Something to fetch.
        public static let data = Kind(rawValue: "data")
    }

    /// What is referred to.
    public var kind: Kind
    /// Where it is; of a person, `xmpp:` and an address.
    public var uri: String
    /// The part of the text, counted in code points; `nil` for none.
    public var range: Range<Int>?
    /// The message that the text is in; `nil` for this one.
    public var anchor: String?

    /// Makes a reference.
    public init(_ kind: Kind, _ uri: String, range: Range<Int>? = nil, anchor: String? = nil) {
        self.kind = kind
        self.uri = uri
        self.range = range
        self.anchor = anchor
    }

    /// Reads a `<reference/>` element; `nil` when it refers to nothing, or to a part that ends before it begins.
    public init?(_ element: Element) {
        guard element.name == Self.elementName, let kind = element["type"], let uri = element["uri"] else { return nil }
        self.init(Kind(rawValue: kind), uri, anchor: element["anchor"])
        guard let range = element.codePointRange else { return nil }
        self.range = range
    }

    /// The `<reference/>` element.
    public var element: Element {
        Element(
            Self.elementName,
            attributes: [
                "type": kind.rawValue, "uri": uri, "begin": range.map { String($0.lowerBound) },
                "end": range.map { String($0.upperBound) }, "anchor": anchor,
            ])
    }
}

extension Element {
    /// The part of a text that `begin` and `end` name: `.some(nil)` when they are not there, `nil` when they make no
    /// sense.
    var codePointRange: Range<Int>?? {
        guard self["begin"] != nil || self["end"] != nil else { return .some(nil) }
        guard let begin = self["begin"].flatMap({ Int($0) }), let end = self["end"].flatMap({ Int($0) }), 0 <= begin,
            begin <= end
        else { return nil }
        return .some(begin..<end)
    }
}
