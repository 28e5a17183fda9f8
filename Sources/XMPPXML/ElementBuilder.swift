// SPDX-License-Identifier: Apache-2.0

/// Grows first-level elements out of start tags, end tags and text.
struct ElementBuilder {
    /// The events completed and not yet taken.
    private(set) var events: [XMLStreamEvent] = []
    /// Open elements, the root included.
    private(set) var depth = 0
    /// The open elements below the root, outermost first.
    private var open: [Element] = []
    /// Text of the innermost element that is not yet a node; libxml2 hands it over in pieces.
    private var text: [UInt8] = []

    /// Takes the events.
    mutating func takeEvents() -> [XMLStreamEvent] {
        defer { events.removeAll() }
        return events
    }

    mutating func start(_ element: Element, contentNamespace: String) {
        depth += 1
        guard depth > 1 else {
            events.append(.streamOpened(element, contentNamespace: contentNamespace))
            return
        }
        finishText()
        open.append(element)
    }

    mutating func end() {
        depth -= 1
        finishText()
        guard let element = open.popLast() else {
            events.append(.streamClosed)
            return
        }
        if open.isEmpty {
            events.append(.element(element))
        } else {
            open[open.count - 1].append(element)
        }
    }

    mutating func characters(_ bytes: UnsafeBufferPointer<UInt8>) {
        // Outside of first-level elements there is only white space.
        if !open.isEmpty { text.append(contentsOf: bytes) }
    }

    private mutating func finishText() {
        guard !text.isEmpty else { return }
        if !open.isEmpty { open[open.count - 1].append(text: String(decoding: text, as: UTF8.self)) }
        // A large body must not be paid for as long as the stream lives.
        text.removeAll(keepingCapacity: text.count <= 4_096)
    }
}
