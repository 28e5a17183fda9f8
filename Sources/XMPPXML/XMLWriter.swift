// SPDX-License-Identifier: Apache-2.0

/// One run of ``XMLSerializer``.
struct XMLWriter {
    /// The namespace of `xmlns`, which nothing may be in (XML Names §3).
    private static let declarationNamespace = "http://www.w3.org/2000/xmlns/"

    /// Whether the prefix `stream` is declared.
    let isInStream: Bool
    let escaping: XMLEscaping
    /// Bytes past which writing stops.
    let maximumBytes: Int
    private(set) var output: [UInt8] = []

    /// An element whose end tag is still to be written.
    private struct Open {
        var rest: IndexingIterator<[Element.Node]>
        let prefix: StaticString
        let localName: String
        /// The default namespace in force inside.
        let defaultNamespace: String
    }

    init(isInStream: Bool, policy: IllegalCharacterPolicy, maximumBytes: Int) {
        self.isInStream = isInStream
        self.maximumBytes = maximumBytes
        escaping = XMLEscaping(policy: policy)
        output.reserveCapacity(256)
    }

    mutating func write(_ element: Element, defaultNamespace: String) throws(XMLSerializationError) {
        var outer: [Open] = []
        guard var current = try writeStart(element, defaultNamespace: defaultNamespace) else { return }
        while true {
            switch current.rest.next() {
            case .text(let text):
                try escaping.append(text, to: &output, isAttribute: false) { "text of \(current.localName)" }
                try checkSize()
            case .element(let child):
                guard let open = try writeStart(child, defaultNamespace: current.defaultNamespace) else { continue }
                outer.append(current)
                current = open
            case nil:
                put("</")
                put(current.prefix)
                put(current.localName)
                put(">")
                try checkSize()
                guard let next = outer.popLast() else { return }
                current = next
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
        if !contentNamespace.isEmpty { try putNamespace("xmlns", contentNamespace) }
        try putNamespace("xmlns:stream", header.namespace)
        try writeAttributes(header)
        put(">")
    }

    /// Writes a start tag, or the whole of an element without children. Returns what is left open.
    private mutating func writeStart(
        _ element: Element, defaultNamespace: String
    ) throws(XMLSerializationError) -> Open? {
        guard XMLText.isName(element.localName) else { throw .invalidName(element.localName) }
        let namespace = element.namespace
        var prefix: StaticString = ""
        var inner = defaultNamespace
        if namespace == Element.xmlNamespace {
            // Never a default namespace (XML Names §3).
            prefix = "xml:"
        } else if !namespace.hasSameOctets(as: defaultNamespace) {
            // RFC 6120 §4.8.5: the stream namespace has its prefix, everything else is prefix-free.
            if isInStream && namespace == Element.streamNamespace { prefix = "stream:" } else { inner = namespace }
        }
        put("<")
        put(prefix)
        put(element.localName)
        if !inner.hasSameOctets(as: defaultNamespace) { try putNamespace("xmlns", namespace) }
        try checkSize()
        try writeAttributes(element)
        guard !element.nodes.isEmpty else {
            put("/>")
            try checkSize()
            return nil
        }
        put(">")
        return Open(
            rest: element.nodes.makeIterator(), prefix: prefix, localName: element.localName, defaultNamespace: inner)
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
                if let known = declared.firstIndex(where: namespace.hasSameOctets) {
                    number = known
                } else {
                    declared.append(namespace)
                    try putNamespace("xmlns:ns\(number)", namespace)
                }
                try put("ns\(number):\(attribute.name)", attribute.value, of: element)
            }
            try checkSize()
        }
    }

    private func checkSize() throws(XMLSerializationError) {
        guard output.count <= maximumBytes else { throw .tooLarge(maximumBytes) }
    }

    private mutating func putNamespace(_ name: String, _ namespace: String) throws(XMLSerializationError) {
        guard namespace != Self.declarationNamespace else { throw .invalidNamespace(namespace) }
        put(" ")
        put(name)
        put("='")
        do {
            // A replaced character would make another namespace of it: refused whatever the policy says.
            try XMLEscaping(policy: .reject).append(namespace, to: &output, isAttribute: true) { name }
        } catch {
            throw .invalidNamespace(namespace)
        }
        put("'")
    }

    private mutating func put(_ name: String, _ value: String, of element: Element) throws(XMLSerializationError) {
        put(" ")
        put(name)
        put("='")
        try escaping.append(value, to: &output, isAttribute: true) { "attribute \(name) of \(element.localName)" }
        put("'")
    }

    private mutating func put(_ text: String) {
        var text = text
        text.withUTF8 { output.append(contentsOf: $0) }
    }

    private mutating func put(_ text: StaticString) {
        output.append(contentsOf: text.utf8)
    }
}
