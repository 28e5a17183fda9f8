// SPDX-License-Identifier: Apache-2.0

/// The child elements of an element, in document order.
package struct ElementChildren: Sequence, IteratorProtocol {
    private enum Source {
        case parsed(ParsedElement, next: Int, end: Int)
        case built(IndexingIterator<[Element.Node]>)
    }

    private var source: Source

    init(_ element: Element) {
        if let parsed = element.parsed {
            let content = parsed.content
            source = .parsed(parsed, next: content.lowerBound, end: content.upperBound)
        } else {
            source = .built(element.nodes.makeIterator())
        }
    }

    /// The next child element; `nil` after the last one.
    package mutating func next() -> Element? {
        switch source {
        case .parsed(let parsed, var place, let end):
            let child = parsed.nextChild(&place, end)
            source = .parsed(parsed, next: place, end: end)
            return child
        case .built(var nodes):
            while let node = nodes.next() {
                if case .element(let child) = node {
                    source = .built(nodes)
                    return child
                }
            }
            source = .built(nodes)
            return nil
        }
    }
}
