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
    public var children: [Element] {
        nodes.compactMap { if case .element(let child) = $0 { child } else { nil } }
    }

    /// The character data directly inside this element, joined; empty when there is none.
    public var text: String {
        var text = ""
        for case .text(let part) in nodes { text += part }
        return text
    }

    /// Whether this element has the given name.
    public func isNamed(_ localName: String, namespace: String) -> Bool {
        name.localName == localName && name.namespace == namespace
    }

    /// The first child element with the given name.
    public func firstChild(_ localName: String, namespace: String) -> Element? {
        for case .element(let child) in nodes where child.isNamed(localName, namespace: namespace) { return child }
        return nil
    }

    /// The child elements with the given name, in document order.
    public func children(_ localName: String, namespace: String) -> [Element] {
        children.filter { $0.isNamed(localName, namespace: namespace) }
    }
}
