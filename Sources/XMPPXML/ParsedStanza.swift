// SPDX-License-Identifier: Apache-2.0

/// One entry of a ``ParsedStanza``.
struct ParsedRecord: BitwiseCopyable {
    /// What the entry stands for.
    enum Kind: UInt8 {
        /// An element: its attributes follow, then its children.
        case element
        /// An attribute of the element before it.
        case attribute
        /// A text node.
        case text
    }

    let kind: Kind
    /// Which of the stanza's names; without meaning for a text.
    let name: UInt32
    /// The number of an element's attributes; where the value of an attribute or a text begins, in bytes.
    let first: UInt32
    /// The entry after an element's last descendant; the length of an attribute's value or a text, in bytes.
    var second: UInt32
}

/// A first-level element as it was read, in one piece of memory: its elements, attributes and texts as a flat list in
/// document order, behind them the bytes of all values.
///
/// Nothing in it is a `String` before somebody asks, and it is freed at once, however deep it is.
final class ParsedStanza: ManagedBuffer<ParsedStanza.Header, ParsedRecord> {
    struct Header {
        /// The names that the stream has in common, in parts of ``NameTable/namesInAPart``.
        let names: [[ElementName]]
        /// Names of this stanza alone, counted on from ``NameTable/maximumKnown``.
        let extraNames: [ElementName]
        let recordCount: Int
        /// About how many bytes all of this takes.
        let storedBytes: Int
    }

    /// Copies entries and bytes, both of which are empty only together.
    static func make(
        _ records: UnsafeBufferPointer<ParsedRecord>, _ bytes: UnsafeBufferPointer<UInt8>, names: [[ElementName]],
        extraNames: [ElementName], nameBytes: Int
    ) -> ParsedStanza {
        let size = MemoryLayout<ParsedRecord>.stride
        let storedBytes = records.count * size + bytes.count + nameBytes
        let buffer = create(minimumCapacity: records.count + (bytes.count + size - 1) / size) { _ in
            Header(names: names, extraNames: extraNames, recordCount: records.count, storedBytes: storedBytes)
        }
        buffer.withUnsafeMutablePointerToElements { start in
            if let first = records.baseAddress { start.initialize(from: first, count: records.count) }
            if let first = bytes.baseAddress {
                UnsafeMutableRawPointer(start + records.count).copyMemory(from: first, byteCount: bytes.count)
            }
        }
        // What `create` makes is an object of the class that it is called on.
        return unsafeDowncast(buffer, to: ParsedStanza.self)
    }

    /// About how many bytes the stanza takes, with its names.
    var storedBytes: Int { withUnsafeMutablePointerToHeader { $0.pointee.storedBytes } }

    /// The entry at an index that came from this stanza.
    @inline(__always)
    func record(_ index: Int) -> ParsedRecord {
        withUnsafeMutablePointers { header, records in
            precondition(index >= 0 && index < header.pointee.recordCount, "an entry that the stanza does not have")
            return records[index]
        }
    }

    /// The name that an entry of this stanza refers to.
    @inline(__always)
    func name(_ record: ParsedRecord) -> ElementName {
        withUnsafeMutablePointerToHeader { header in
            let index = Int(record.name)
            return index < NameTable.maximumKnown
                ? header.pointee.names[index / NameTable.namesInAPart][index % NameTable.namesInAPart]
                : header.pointee.extraNames[index - NameTable.maximumKnown]
        }
    }

    /// Lends the name that an entry of this stanza refers to, without a copy of it.
    @inline(__always)
    func withName<Result>(_ record: ParsedRecord, _ body: (borrowing ElementName) -> Result) -> Result {
        withUnsafeMutablePointerToHeader { header in
            let index = Int(record.name)
            func lend(_ place: Int, _ names: UnsafeBufferPointer<ElementName>) -> Result {
                precondition(place < names.count, "a name that the stanza does not have")
                return body(names[place])
            }
            guard index < NameTable.maximumKnown else {
                let place = index - NameTable.maximumKnown
                return header.pointee.extraNames.withUnsafeBufferPointer { lend(place, $0) }
            }
            let place = index % NameTable.namesInAPart
            return header.pointee.names[index / NameTable.namesInAPart].withUnsafeBufferPointer { lend(place, $0) }
        }
    }

    /// Whether an entry has a name.
    @inline(__always)
    func isNamed(_ record: ParsedRecord, _ localName: String, _ namespace: String) -> Bool {
        withName(record) { $0.localName == localName && $0.namespace == namespace }
    }

    /// Lends the bytes of an attribute's value or a text.
    @inline(__always)
    func withBytes<Result>(_ record: ParsedRecord, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        withUnsafeMutablePointers { header, records in
            let bytes = UnsafeRawPointer(records + header.pointee.recordCount) + Int(record.first)
            let count = Int(record.second)
            return body(UnsafeBufferPointer(start: bytes.assumingMemoryBound(to: UInt8.self), count: count))
        }
    }

    /// The value of an attribute or a text.
    @inline(__always)
    func string(_ record: ParsedRecord) -> String {
        withBytes(record) { String(decoding: $0, as: UTF8.self) }
    }
}

/// An element within a ``ParsedStanza``.
///
/// Unchecked because a `ManagedBuffer` could be written to: nothing does after
/// ``ParsedStanza/make(_:_:names:extraNames:nameBytes:)`` has returned, and nobody but this type holds one.
struct ParsedElement: @unchecked Sendable {
    let stanza: ParsedStanza
    /// Where its entry stands.
    let index: Int

    private var record: ParsedRecord { stanza.record(index) }

    var name: ElementName { stanza.name(record) }

    /// Whether this is the very same element, not only an equal one.
    func isIdentical(to other: ParsedElement) -> Bool { stanza === other.stanza && index == other.index }

    /// The attributes in document order.
    var attributes: [Element.Attribute] {
        let count = Int(record.first)
        guard count > 0 else { return [] }
        return (index + 1...index + count).map { place in
            let attribute = stanza.record(place)
            let name = stanza.name(attribute)
            return Element.Attribute(name.localName, namespace: name.namespace, value: stanza.string(attribute))
        }
    }

    /// The value of an attribute.
    func attribute(_ localName: String, namespace: String) -> String? {
        entry(of: localName, namespace).map(stanza.string)
    }

    /// Whether an attribute without namespace is there with this value.
    func hasAttribute(_ localName: String, _ value: String) -> Bool {
        guard let entry = entry(of: localName, "") else { return false }
        return stanza.withBytes(entry) { value.utf8.hasOctets($0) }
    }

    /// Lends the octets of the value of an attribute without namespace, where it is there.
    func withAttribute(_ localName: String, _ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        if let entry = entry(of: localName, "") { stanza.withBytes(entry, body) }
    }

    private func entry(of localName: String, _ namespace: String) -> ParsedRecord? {
        let count = Int(record.first)
        var place = index + 1
        while place <= index + count {
            let attribute = stanza.record(place)
            if stanza.isNamed(attribute, localName, namespace) { return attribute }
            place += 1
        }
        return nil
    }

    /// Whether the element has a name.
    func isNamed(_ localName: String, _ namespace: String) -> Bool { stanza.isNamed(record, localName, namespace) }

    var nameHash: Int { stanza.withName(record) { $0.cheapHash } }

    /// Whether the element is in a namespace.
    func isIn(_ namespace: String) -> Bool { stanza.withName(record) { $0.namespace == namespace } }

    /// The first child element with a name.
    func firstChild(_ localName: String, _ namespace: String) -> ParsedElement? {
        let content = content
        var place = content.lowerBound
        while place < content.upperBound {
            let record = stanza.record(place)
            guard record.kind == .element else {
                place += 1
                continue
            }
            if stanza.isNamed(record, localName, namespace) { return ParsedElement(stanza: stanza, index: place) }
            place = Int(record.second)
        }
        return nil
    }

    /// Where the child nodes' entries begin and where they end.
    var content: Range<Int> {
        let record = record
        return index + 1 + Int(record.first)..<Int(record.second)
    }

    /// The child node whose entry stands at `place`, which moves on to the next one.
    @inline(__always)
    func node(at place: inout Int) -> Element.Node {
        let record = stanza.record(place)
        guard record.kind == .element else {
            place += 1
            return .text(stanza.string(record))
        }
        defer { place = Int(record.second) }
        return .element(Element(parsed: ParsedElement(stanza: stanza, index: place)))
    }

    /// The child nodes in document order.
    var nodes: [Element.Node] {
        var nodes: [Element.Node] = []
        var place = content.lowerBound
        while place < content.upperBound { nodes.append(node(at: &place)) }
        return nodes
    }

    /// The next child element from `place` on, which moves behind it.
    @inline(__always)
    func nextChild(_ place: inout Int, _ end: Int) -> Element? {
        while place < end {
            let record = stanza.record(place)
            guard record.kind == .element else {
                place += 1
                continue
            }
            defer { place = Int(record.second) }
            return Element(parsed: ParsedElement(stanza: stanza, index: place))
        }
        return nil
    }

    /// The character data directly inside, joined.
    var text: String {
        let content = content
        var text = ""
        var place = content.lowerBound
        while place < content.upperBound {
            let record = stanza.record(place)
            switch record.kind {
            case .element: place = Int(record.second)
            case .attribute, .text:
                // Nearly always the only text: no copy is made then.
                if text.isEmpty { text = stanza.string(record) } else { text += stanza.string(record) }
                place += 1
            }
        }
        return text
    }
}
