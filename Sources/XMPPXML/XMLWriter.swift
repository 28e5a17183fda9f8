// SPDX-License-Identifier: Apache-2.0

/// One run of ``XMLSerializer``.
struct XMLWriter {
    /// The namespace of `xmlns`, which nothing may be in (XML Names §3).
    private static let declarationNamespace = "http://www.w3.org/2000/xmlns/"

    /// Whether the prefix `stream` is declared.
    let isInStream: Bool
    let escaping: XMLEscaping
    private(set) var output: [UInt8] = []

    /// An element whose end tag is still to be written.
    private struct Open {
        let nodes: [Element.Node]
        var next = 0
        let prefix: String
        let localName: String
        /// The default namespace in force inside.
        let defaultNamespace: String
    }

    init(isInStream: Bool, policy: IllegalCharacterPolicy) {
        self.isInStream = isInStream
        escaping = XMLEscaping(policy: policy)
        output.reserveCapacity(256)
    }

    mutating func write(_ element: Element, defaultNamespace: String) throws(XMLSerializationError) {
        var stack: [Open] = []
        if let root = try writeStart(element, defaultNamespace: defaultNamespace) { stack.append(root) }
        while let top = stack.last {
            guard top.next < top.nodes.count else {
                put("</")
                put(top.prefix)
                put(top.localName)
                put(">")
                stack.removeLast()
                continue
            }
            stack[stack.count - 1].next += 1
            switch top.nodes[top.next] {
            case .text(let text):
                try escaping.append(text, to: &output, isAttribute: false) { "text of \(top.localName)" }
            case .element(let child):
                if let open = try writeStart(child, defaultNamespace: top.defaultNamespace) { stack.append(open) }
            }
        }
    }

    mutating func writeOpenTag(_ header: Element, contentNamespace: String) throws(XMLSerializationError) {
        guard XMLText.isName(header.localName) else { throw .invalidName(header.localName) }
        put("<stream:")
        put(header.localName)
        guard !header.namespace.isEmpty, header.namespace != Element.xmlNamespace else {
            throw .invalidNamespace(header.namespace)
        }
        if !contentNamespace.isEmpty { try putNamespace("xmlns", contentNamespace, of: header) }
        try putNamespace("xmlns:stream", header.namespace, of: header)
        try writeAttributes(header)
        put(">")
    }

    /// Writes a start tag, or the whole of an element without children. Returns what is left open.
    private mutating func writeStart(
        _ element: Element, defaultNamespace: String
    ) throws(XMLSerializationError) -> Open? {
        guard XMLText.isName(element.localName) else { throw .invalidName(element.localName) }
        let namespace = element.namespace
        var prefix = ""
        var inner = defaultNamespace
        if namespace == Element.xmlNamespace {
            // Never a default namespace (XML Names §3).
            prefix = "xml:"
        } else if namespace != defaultNamespace {
            // RFC 6120 §4.8.5: the stream namespace has its prefix, everything else is prefix-free.
            if isInStream && namespace == Element.streamNamespace { prefix = "stream:" } else { inner = namespace }
        }
        put("<")
        put(prefix)
        put(element.localName)
        if inner != defaultNamespace { try putNamespace("xmlns", namespace, of: element) }
        try writeAttributes(element)
        guard !element.nodes.isEmpty else {
            put("/>")
            return nil
        }
        put(">")
        return Open(nodes: element.nodes, prefix: prefix, localName: element.localName, defaultNamespace: inner)
    }

    private mutating func writeAttributes(_ element: Element) throws(XMLSerializationError) {
        var declared: [String] = []
        for attribute in element.attributes {
            guard XMLText.isName(attribute.name) else { throw .invalidName(attribute.name) }
            switch attribute.namespace {
            case "":
                // An attribute of this name would be a declaration, and move the element elsewhere.
                guard attribute.name != "xmlns" else { throw .invalidName(attribute.name) }
                try put(attribute.name, attribute.value, of: element)
            case Element.xmlNamespace:
                try put("xml:" + attribute.name, attribute.value, of: element)
            case let namespace:
                var number = declared.count
                if let known = declared.firstIndex(of: namespace) {
                    number = known
                } else {
                    declared.append(namespace)
                    try putNamespace("xmlns:ns\(number)", namespace, of: element)
                }
                try put("ns\(number):\(attribute.name)", attribute.value, of: element)
            }
        }
    }

    private mutating func putNamespace(
        _ name: String, _ namespace: String, of element: Element
    ) throws(XMLSerializationError) {
        // A replaced character would make another namespace of it: refused whatever the policy says.
        guard namespace != Self.declarationNamespace, namespace.unicodeScalars.allSatisfy(XMLText.isAllowed) else {
            throw .invalidNamespace(namespace)
        }
        try put(name, namespace, of: element)
    }

    private mutating func put(_ name: String, _ value: String, of element: Element) throws(XMLSerializationError) {
        put(" ")
        put(name)
        put("='")
        try escaping.append(value, to: &output, isAttribute: true) { "attribute \(name) of \(element.localName)" }
        put("'")
    }

    private mutating func put(_ text: String) {
        output.append(contentsOf: text.utf8)
    }
}
