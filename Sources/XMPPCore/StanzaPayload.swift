// SPDX-License-Identifier: Apache-2.0

public import XMPPXML

/// A typed child of a stanza: what an extension puts into messages, presence and requests.
///
/// ```swift
/// struct Mood: StanzaPayload {
///     static let elementName = ElementName("mood", namespace: "urn:example:mood")
///     var text: String
///     init?(_ element: Element) {
///         guard element.name == Self.elementName else { return nil }
///         text = element.text
///     }
///     var element: Element { Element(Self.elementName, text: text) }
/// }
///
/// message.setPayload(Mood(text: "merry"))
/// if let mood = message.payload(Mood.self) { … }
/// ```
public protocol StanzaPayload: Sendable {
    /// The name of the element.
    static var elementName: ElementName { get }
    /// Reads an element; `nil` when it is another one, or says nothing that makes sense. Others wrote it.
    init?(_ element: Element)
    /// The element.
    var element: Element { get }
}

extension Stanza {
    /// The first child of this type that can be read; one that cannot is passed over.
    public func payload<Payload: StanzaPayload>(_ type: Payload.Type) -> Payload? {
        for child in element.eachChild where child.name == Payload.elementName {
            if let payload = Payload(child) { return payload }
        }
        return nil
    }

    /// Puts a payload in, in place of others of its type.
    public mutating func setPayload<Payload: StanzaPayload>(_ payload: Payload) {
        removePayload(Payload.self)
        append(payload.element)
    }

    /// Removes the children of this type.
    public mutating func removePayload<Payload: StanzaPayload>(_ type: Payload.Type) {
        let name = Payload.elementName
        withElement { $0.removeChildren { $0.name == name } }
    }
}

extension Element {
    /// Makes an element without children.
    public init(_ name: ElementName, attributes: KeyValuePairs<String, String?> = [:]) {
        self.init(name.localName, namespace: name.namespace, attributes: attributes)
    }

    /// Makes an element that holds only text.
    public init(_ name: ElementName, text: String) {
        self.init(name.localName, namespace: name.namespace, text: text)
    }
}
