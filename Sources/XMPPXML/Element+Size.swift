// SPDX-License-Identifier: Apache-2.0

extension Element {
    /// Bytes of a namespace past which it counts once for an element and all that is in it; 64. Shorter ones count for
    /// each name.
    private static let sharedNamespaceBytes = 64

    /// About how many bytes of memory are held on to with the element: names, values and texts, and what is needed to
    /// find them.
    ///
    /// A part of what was read holds on to the whole stanza, and weighs as much. It is the one measure for all that
    /// bounds what it keeps; for what was read it costs nothing.
    package var storedBytes: Int {
        var weight = Weight()
        var rest = [self]
        while let element = rest.popLast() {
            if let parsed = element.parsed {
                weight.add(parsed.stanza)
                continue
            }
            weight.add(element.name)
            for attribute in element.attributes {
                weight.add(ElementName(attribute.name, namespace: attribute.namespace))
                weight.bytes += attribute.value.utf8.count
            }
            for node in element.nodes {
                switch node {
                case .element(let child): rest.append(child)
                case .text(let text): weight.bytes += MemoryLayout<ParsedRecord>.stride + text.utf8.count
                }
            }
        }
        return weight.bytes
    }

    /// What was counted so far.
    private struct Weight {
        var bytes = 0
        private var stanzas: Set<ObjectIdentifier> = []
        private var namespaces: Set<String> = []

        /// Counts what was read, once.
        mutating func add(_ stanza: ParsedStanza) {
            if stanzas.insert(ObjectIdentifier(stanza)).inserted { bytes += stanza.storedBytes }
        }

        /// Counts the name of an element or attribute.
        mutating func add(_ name: ElementName) {
            bytes += MemoryLayout<ParsedRecord>.stride + name.localName.utf8.count
            let length = name.namespace.utf8.count
            guard length <= Element.sharedNamespaceBytes || namespaces.insert(name.namespace).inserted else { return }
            bytes += length
        }
    }
}
