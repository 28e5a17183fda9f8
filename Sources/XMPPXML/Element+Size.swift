// SPDX-License-Identifier: Apache-2.0

extension Element {
    /// About how many bytes the element takes in memory, with all that is in it: its values and texts, and what is needed to
    /// find them.
    package var storedBytes: Int {
        var sum = 0
        var rest = [self]
        while let element = rest.popLast() {
            if let parsed = element.parsed {
                sum += parsed.storedBytes
                continue
            }
            sum += MemoryLayout<ParsedRecord>.stride
            for attribute in element.attributes {
                sum += MemoryLayout<ParsedRecord>.stride + attribute.value.utf8.count
            }
            for node in element.nodes {
                switch node {
                case .element(let child): rest.append(child)
                case .text(let text): sum += MemoryLayout<ParsedRecord>.stride + text.utf8.count
                }
            }
        }
        return sum
    }
}

extension ParsedElement {
    /// The bytes of the entries of the element and of what is in it, and of their values.
    fileprivate var storedBytes: Int {
        let end = content.upperBound
        var sum = (end - index) * MemoryLayout<ParsedRecord>.stride
        for place in index..<end {
            let record = stanza.record(place)
            switch record.kind {
            case .element: break
            case .attribute, .text: sum += Int(record.second)
            }
        }
        return sum
    }
}
