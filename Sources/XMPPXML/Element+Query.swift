// SPDX-License-Identifier: Apache-2.0

extension Element {
    /// The namespace that the prefix `xml` stands for.
    public static let xmlNamespace = "http://www.w3.org/XML/1998/namespace"

    /// The namespace of the stream element, its features and its errors (RFC 6120 §4.8.1).
    package static let streamNamespace = "http://etherx.jabber.org/streams"

    /// The namespace URI.
    public var namespace: String { name.namespace }

    /// The name without prefix.
    public var localName: String { name.localName }

    /// The value of `xml:lang` on this element itself.
    public var language: String? {
        get { self["lang", namespace: Self.xmlNamespace] }
        set { self["lang", namespace: Self.xmlNamespace] = newValue }
    }

    /// The child elements in document order.
    public var children: [Element] { Array(eachChild) }

    /// The child elements in document order, one at a time: nothing is made of those that are not looked at.
    package var eachChild: ElementChildren { ElementChildren(self) }

    /// The character data directly inside this element, joined; empty when there is none.
    public var text: String {
        if let parsed { return parsed.text }
        var text = ""
        for case .text(let part) in nodes { text += part }
        return text
    }

    /// Whether this element has the given name.
    public func isNamed(_ localName: String, namespace: String) -> Bool {
        if let parsed { return parsed.isNamed(localName, namespace) }
        let name = name
        return name.localName == localName && name.namespace == namespace
    }

    /// What a table of names may hash: it is read without a copy of the name.
    package var nameHash: Int {
        if let parsed { return parsed.nameHash }
        return name.cheapHash
    }

    /// Whether this element is in the given namespace.
    package func isIn(_ namespace: String) -> Bool {
        if let parsed { return parsed.isIn(namespace) }
        return self.namespace == namespace
    }

    /// Whether the attribute without namespace called `name` is there with this value, octet by octet.
    ///
    /// The same as comparing with ``subscript(_:)``, without a string for the value of what was read.
    package func hasAttribute(_ name: String, _ value: String) -> Bool {
        if let parsed { return parsed.hasAttribute(name, value) }
        return self[name].map { $0.utf8.elementsEqual(value.utf8) } ?? false
    }

    /// Lends the octets of the attribute without namespace called `name`, which are UTF-8, where it is there. No string
    /// is made of what was read.
    package func withAttribute(_ name: String, _ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        if let parsed {
            parsed.withAttribute(name, body)
        } else if var value = self[name] {
            value.withUTF8(body)
        }
    }

    /// The first child element with the given name.
    public func firstChild(_ localName: String, namespace: String) -> Element? {
        if let parsed { return parsed.firstChild(localName, namespace).map(Element.init(parsed:)) }
        return eachChild.first { $0.isNamed(localName, namespace: namespace) }
    }

    /// The child elements with the given name, in document order.
    public func children(_ localName: String, namespace: String) -> [Element] {
        eachChild.filter { $0.isNamed(localName, namespace: namespace) }
    }
}
