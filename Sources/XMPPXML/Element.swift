// SPDX-License-Identifier: Apache-2.0

/// An XML element: a name, attributes, and child nodes in order. A value: copies are independent.
///
/// One that was read from a stream stays in one flat piece of memory, shared by all views of it, until it is changed;
/// text and attribute values become strings when they are asked for.
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

        /// Whether names and values are the same; values by code points, as text is.
        public static func == (left: Attribute, right: Attribute) -> Bool {
            left.name == right.name && left.namespace == right.namespace
                && left.value.utf8.elementsEqual(right.value.utf8)
        }
    }

    /// One child node.
    public enum Node: Hashable, Sendable {
        /// A child element.
        case element(Element)
        /// Character data, unescaped; never empty.
        case text(String)
    }

    /// How the element is kept: as it was read, or as it was put together.
    private enum Form {
        case parsed(ParsedElement)
        case built(Box)
    }

    /// The parts of an element that can be changed.
    private struct Parts: Sendable {
        var name: ElementName
        var attributes: [Attribute] = []
        var nodes: [Node] = []

        mutating func append(_ text: String) {
            if case .text(let before)? = nodes.last {
                nodes[nodes.count - 1] = .text(before + text)
            } else {
                nodes.append(.text(text))
            }
        }
    }

    /// Where the parts are, so that an element is small to copy. Unchecked: they change only while one element alone
    /// refers to them.
    private final class Box: @unchecked Sendable {
        /// Stands in an element for as long as its own is being changed.
        static let vacant = Box(Parts(name: ElementName("", namespace: "")))

        var parts: Parts

        init(_ parts: Parts) { self.parts = parts }
    }

    private var form: Form

    /// Makes an element that was read.
    init(parsed: ParsedElement) {
        form = .parsed(parsed)
    }

    /// What was read, as long as nothing was changed.
    var parsed: ParsedElement? {
        if case .parsed(let parsed) = form { parsed } else { nil }
    }

    /// Changes the parts; what was read, or is shared with other elements, is copied first.
    private mutating func change<Result>(_ body: (inout Parts) -> Result) -> Result {
        switch form {
        case .parsed(let parsed):
            var parts = Parts(name: parsed.name, attributes: parsed.attributes, nodes: parsed.nodes)
            defer { form = .built(Box(parts)) }
            return body(&parts)
        case .built(var box):
            // The reference in `form` would be a second one.
            form = .built(.vacant)
            if !isKnownUniquelyReferenced(&box) { box = Box(box.parts) }
            defer { form = .built(box) }
            return body(&box.parts)
        }
    }

    /// The namespace URI and local name.
    public var name: ElementName {
        get {
            switch form {
            case .parsed(let parsed): parsed.name
            case .built(let box): box.parts.name
            }
        }
        set { change { $0.name = newValue } }
    }

    /// The attributes in document order; no two have the same namespace and name.
    public var attributes: [Attribute] {
        switch form {
        case .parsed(let parsed): parsed.attributes
        case .built(let box): box.parts.attributes
        }
    }

    /// The child nodes in document order; no two text nodes are neighbours.
    public var nodes: [Node] {
        switch form {
        case .parsed(let parsed): parsed.nodes
        case .built(let box): box.parts.nodes
        }
    }

    /// Makes an element without children.
    ///
    /// - Parameters:
    ///   - localName: The name without prefix.
    ///   - namespace: The namespace URI.
    ///   - attributes: Attributes without namespace, in order. A `nil` value leaves the attribute out.
    public init(_ localName: String, namespace: String, attributes: KeyValuePairs<String, String?> = [:]) {
        form = .built(Box(Parts(name: ElementName(localName, namespace: namespace))))
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
        change { $0.nodes = children.map(Node.element) }
    }

    /// The value of the attribute without namespace called `name`; setting `nil` removes it.
    public subscript(name: String) -> String? {
        get { self[name, namespace: ""] }
        set { self[name, namespace: ""] = newValue }
    }

    /// The value of an attribute in a namespace; setting `nil` removes it.
    public subscript(name: String, namespace namespace: String) -> String? {
        get {
            switch form {
            case .parsed(let parsed):
                parsed.attribute(name, namespace: namespace)
            case .built(let box):
                box.parts.attributes.first { $0.name == name && $0.namespace == namespace }?.value
            }
        }
        set {
            change { parts in
                let index = parts.attributes.firstIndex { $0.name == name && $0.namespace == namespace }
                switch (index, newValue) {
                case (let index?, let value?): parts.attributes[index].value = value
                case (let index?, nil): parts.attributes.remove(at: index)
                case (nil, let value?):
                    parts.attributes.append(Attribute(name, namespace: namespace, value: value))
                case (nil, nil): break
                }
            }
        }
    }

    /// Appends a child element.
    public mutating func append(_ child: Element) {
        change { $0.nodes.append(.element(child)) }
    }

    /// Appends child elements in order.
    public mutating func append(contentsOf children: some Sequence<Element>) {
        change { $0.nodes += children.lazy.map(Node.element) }
    }

    /// Appends character data; joined with a text node that precedes it.
    public mutating func append(text: String) {
        guard !text.isEmpty else { return }
        change { $0.append(text) }
    }

    /// Removes the child elements for which `predicate` holds; text that they stood between is joined.
    public mutating func removeChildren(where predicate: (Element) -> Bool) {
        var kept = self
        kept.removeContent()
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
        change { $0.nodes = [] }
    }
}
