// SPDX-License-Identifier: Apache-2.0

/// An XML element: a name, attributes, and child nodes in order. A value: copies are independent.
///
/// Two elements are equal when names and children are and the attributes are the same in any order.
public struct Element: Sendable {
    /// One attribute.
    public struct Attribute: Hashable, Sendable {
        /// The namespace URI; empty for the usual attribute without a prefix.
        public var namespace: String
        /// The name without prefix.
        public var name: String
        /// The value, unescaped.
        public var value: String

        /// Makes an attribute.
        public init(_ name: String, namespace: String = "", value: String) {
            self.namespace = namespace
            self.name = name
            self.value = value
        }
    }

    /// One child node.
    public enum Node: Hashable, Sendable {
        /// A child element.
        case element(Element)
        /// Character data, unescaped; never empty.
        case text(String)
    }

    /// The namespace URI and local name.
    public var name: ElementName
    /// The attributes in document order; no two have the same namespace and name.
    public private(set) var attributes: [Attribute]
    /// The child nodes in document order; no two text nodes are neighbours.
    public private(set) var nodes: [Node]

    /// Makes an element without children out of attributes known to be different.
    init(name: ElementName, attributes: [Attribute]) {
        self.name = name
        self.attributes = attributes
        nodes = []
    }

    /// Makes an element without children.
    ///
    /// - Parameters:
    ///   - localName: The name without prefix.
    ///   - namespace: The namespace URI.
    ///   - attributes: Attributes without namespace, in order. A `nil` value leaves the attribute out.
    public init(_ localName: String, namespace: String, attributes: KeyValuePairs<String, String?> = [:]) {
        name = ElementName(localName, namespace: namespace)
        self.attributes = []
        nodes = []
        for (name, value) in attributes {
            self[name] = value
        }
    }

    /// Makes an element that holds only text.
    public init(_ localName: String, namespace: String, text: String) {
        self.init(localName, namespace: namespace)
        append(text: text)
    }

    /// Makes an element with child elements.
    public init(
        _ localName: String, namespace: String, attributes: KeyValuePairs<String, String?> = [:], children: [Element]
    ) {
        self.init(localName, namespace: namespace, attributes: attributes)
        nodes = children.map(Node.element)
    }

    /// The value of the attribute without namespace called `name`; setting `nil` removes it.
    public subscript(name: String) -> String? {
        get { self[name, namespace: ""] }
        set { self[name, namespace: ""] = newValue }
    }

    /// The value of an attribute in a namespace; setting `nil` removes it.
    public subscript(name: String, namespace namespace: String) -> String? {
        get { attributes.first { $0.name == name && $0.namespace == namespace }?.value }
        set {
            let index = attributes.firstIndex { $0.name == name && $0.namespace == namespace }
            switch (index, newValue) {
            case (let index?, let value?): attributes[index].value = value
            case (let index?, nil): attributes.remove(at: index)
            case (nil, let value?): attributes.append(Attribute(name, namespace: namespace, value: value))
            case (nil, nil): break
            }
        }
    }

    /// Appends a child element.
    public mutating func append(_ child: Element) {
        nodes.append(.element(child))
    }

    /// Appends child elements in order.
    public mutating func append(contentsOf children: some Sequence<Element>) {
        nodes += children.lazy.map(Node.element)
    }

    /// Appends character data; joined with a text node that precedes it.
    public mutating func append(text: String) {
        guard !text.isEmpty else { return }
        if case .text(let before)? = nodes.last {
            nodes[nodes.count - 1] = .text(before + text)
        } else {
            nodes.append(.text(text))
        }
    }

    /// Removes the child elements for which `predicate` holds; text that they stood between is joined.
    public mutating func removeChildren(where predicate: (Element) -> Bool) {
        var kept = self
        kept.nodes = []
        for node in nodes {
            switch node {
            case .element(let child): if !predicate(child) { kept.append(child) }
            case .text(let text): kept.append(text: text)
            }
        }
        self = kept
    }

    /// Removes all child elements and all text.
    public mutating func removeContent() {
        nodes = []
    }
}
