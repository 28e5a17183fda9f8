// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
public import XMPPXML

/// A resource elsewhere that belongs to a message (XEP-0066 §3). Nothing fetches it by itself.
public struct OutOfBandData: StanzaPayload, Hashable {
    /// The namespace of such data.
    public static let namespace = "jabber:x:oob"
    /// The name of the `<x/>` element.
    public static let elementName = ElementName("x", namespace: namespace)

    /// Where it is, as it was written: check its scheme before it is opened.
    public var url: String
    /// What it is, for people.
    public var explanation: String?

    /// Makes data.
    public init(_ url: String, explanation: String? = nil) {
        self.url = url
        self.explanation = explanation
    }

    /// Reads an `<x/>` element; `nil` when it names no place.
    public init?(_ element: Element) {
        guard element.name == Self.elementName,
            let url = element.firstChild("url", namespace: Self.namespace)?.text.trimmedOfXMLWhitespace, !url.isEmpty
        else { return nil }
        self.init(url, explanation: element.firstChild("desc", namespace: Self.namespace)?.text)
    }

    /// The `<x/>` element.
    public var element: Element {
        var data = Element(Self.elementName)
        data.append(Element("url", namespace: Self.namespace, text: url))
        if let explanation { data.append(Element("desc", namespace: Self.namespace, text: explanation)) }
        return data
    }
}

extension Message {
    /// The resources elsewhere that belong to the message.
    public var attachments: [OutOfBandData] { element.children.compactMap(OutOfBandData.init) }
}
