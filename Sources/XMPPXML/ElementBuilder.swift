// SPDX-License-Identifier: Apache-2.0

/// Grows first-level elements out of start tags, end tags and text.
struct ElementBuilder: ~Copyable {
    /// Entries and bytes that are kept room for between stanzas: a large one must not be paid for as long as the stream
    /// lives.
    private static let keptCapacity = 4_096

    /// An attribute as libxml2 hands it over: five addresses in a row.
    typealias RawAttributes = UnsafeBufferPointer<UnsafePointer<UInt8>?>

    /// The events completed and not yet taken.
    private(set) var events: [XMLStreamEvent] = []
    /// Open elements, the root included.
    private(set) var depth = 0
    private var names = NameTable()
    /// The entries of the current first-level element, and the bytes of its values.
    private var records = GrowingBuffer<ParsedRecord>()
    private var bytes = GrowingBuffer<UInt8>()
    /// The entries of the open elements below the root, outermost first.
    private var open: [Int] = []
    /// Whether the last entry is a text that may go on: libxml2 hands text over in pieces.
    private var isInText = false

    /// Takes the events.
    mutating func takeEvents() -> [XMLStreamEvent] {
        defer { events.removeAll() }
        return events
    }

    /// A start tag. `contentNamespace` is asked for at the root only.
    mutating func start(
        _ localName: UnsafePointer<UInt8>?, _ namespace: UnsafePointer<UInt8>?, _ attributes: RawAttributes,
        contentNamespace: () -> String
    ) {
        depth += 1
        isInText = false
        let place = records.count
        let count = attributes.count / 5
        records.append(
            ParsedRecord(
                kind: .element, name: names.number(localName, namespace), first: UInt32(truncatingIfNeeded: count),
                second: UInt32(truncatingIfNeeded: place + 1 + count)))
        var base = 0
        while base + 4 < attributes.count {
            let start = bytes.count
            if let first = attributes[base + 3], let end = attributes[base + 4] {
                bytes.append(contentsOf: UnsafeBufferPointer(start: first, count: end - first))
            }
            append(.attribute, names.number(attributes[base], attributes[base + 2]), from: start)
            base += 5
        }
        if depth > 1 {
            open.append(place)
        } else {
            events.append(.streamOpened(takeElement(), contentNamespace: contentNamespace()))
        }
    }

    /// An end tag.
    mutating func end() {
        depth -= 1
        isInText = false
        guard let place = open.popLast() else {
            events.append(.streamClosed)
            return
        }
        records[place].second = UInt32(truncatingIfNeeded: records.count)
        if open.isEmpty { events.append(.element(takeElement())) }
    }

    /// A piece of text.
    mutating func characters(_ piece: UnsafeBufferPointer<UInt8>) {
        // Outside of first-level elements there is only white space.
        guard !open.isEmpty, !piece.isEmpty else { return }
        let start = bytes.count
        bytes.append(contentsOf: piece)
        if isInText {
            records[records.count - 1].second += UInt32(truncatingIfNeeded: piece.count)
        } else {
            append(.text, 0, from: start)
            isInText = true
        }
    }

    /// Appends the entry of the bytes from `start` on. A stanza has fewer than 2^31 bytes: no number is cut.
    private mutating func append(_ kind: ParsedRecord.Kind, _ name: UInt32, from start: Int) {
        records.append(
            ParsedRecord(
                kind: kind, name: name, first: UInt32(truncatingIfNeeded: start),
                second: UInt32(truncatingIfNeeded: bytes.count - start)))
    }

    /// What the start tag of the first-level element that is open said; `nil` between two.
    var head: Element? {
        guard depth > 1, let first = records.contents.first else { return nil }
        let head = UnsafeBufferPointer(rebasing: records.contents.prefix(1 + Int(first.first)))
        // Behind the values of its attributes come those of its children.
        let count = head.dropFirst().last.map { Int($0.first) + Int($0.second) } ?? 0
        let stanza = ParsedStanza.make(
            head, UnsafeBufferPointer(rebasing: bytes.contents.prefix(count)), names: names.known,
            extraNames: names.extra, nameBytes: names.bytesOfAStanza)
        return Element(parsed: ParsedElement(stanza: stanza, index: 0))
    }

    /// The element that is complete; the next one begins.
    private mutating func takeElement() -> Element {
        let stanza = ParsedStanza.make(
            records.contents, bytes.contents, names: names.known, extraNames: names.extra,
            nameBytes: names.bytesOfAStanza)
        names.finishStanza()
        records.removeAll(keepingCapacity: Self.keptCapacity)
        bytes.removeAll(keepingCapacity: Self.keptCapacity)
        return Element(parsed: ParsedElement(stanza: stanza, index: 0))
    }
}
