// SPDX-License-Identifier: Apache-2.0

/// Finds where the tags and the first-level elements of a stream end, byte by byte, before libxml2 sees them.
///
/// What it decides cannot depend on how the bytes were cut into reads: the grammar goes byte by byte and never looks
/// ahead. Where a whole ordinary tag or a run of text lies before it, it takes a short cut to the same place (`+Runs`).
/// From it come the exact end of an element, every limit, and the refusal of all that XMPP forbids (comments,
/// processing instructions, DTDs, entities: RFC 6120 §11.1). Names, namespaces and values are libxml2's business.
struct StreamFramer {
    /// Where in the grammar the next byte stands.
    enum State {
        case start, misc, between, text, closed
        case lessThan, startName, inTag, attributeName, afterAttributeName, beforeValue, value, afterValue, slash
        case endNameStart, endName, endSpace
        case reference, entityName, characterReference
        case question, declaration, bang, cdataOpen, cdata
    }

    /// Why ``scan(_:_:)`` returned.
    enum Stop {
        /// All bytes were looked at.
        case end
        /// The byte before ``position`` completed the root's start tag, a first-level element or the root's end tag.
        case unit
        /// With the byte at ``position`` the current first-level element passes a limit. It may be passed over.
        case limit(XMLStreamError)
        /// The byte at ``position`` is refused.
        case error(XMLStreamError)
    }

    /// The next byte to look at, counted from the start of the current buffer.
    private(set) var position = 0
    /// One past the last byte of the last whole tag or CDATA section; 0 when none ended in the current buffer.
    private(set) var tokenEnd = 0
    /// Where the current unit's first `<` stands; negative when it came in an earlier buffer.
    private(set) var unitStart = 0
    /// Open elements, the root included.
    var depth = 0

    var state = State.start
    var validator = UTF8Validator()
    /// The state that a reference returns to: text or attribute value.
    var stateAfterReference = State.text
    /// The quote that ends the attribute value.
    var quote: UInt8 = 0
    /// Bytes of the current name or namespace, matched bytes of a keyword, or brackets seen at the end of a CDATA
    /// section.
    var count = 0
    /// Whether the current attribute declares a namespace, as far as its name has come.
    var isDeclaration = false
    /// Bytes of white space before the root.
    private var leadingSpace = 0
    /// Attributes of the current tag.
    var attributes = 0
    /// Elements of the current unit.
    var elements = 0
    /// The current entity name, or the XML declaration; short by construction.
    var collected: [UInt8] = []
    /// Whether the current first-level element is passed over: only ``XMLLimits/maximumPassedOverBytes`` counts until
    /// its end.
    var isPassingOver = false
    /// Whether a `<?xml` would be the stream's very first bytes (XML §2.8).
    var mayDeclare = false

    /// Whether no tag, text or element is half read.
    var isBetweenUnits: Bool {
        switch state {
        case .start, .misc, .between, .closed: true
        default: false
        }
    }

    /// Forgets the current buffer, of which all bytes before ``position`` were used.
    mutating func finishBuffer() {
        unitStart -= position
        position = 0
        tokenEnd = 0
    }

    /// Looks at bytes from ``position`` on, up to the end of a unit.
    mutating func scan(_ bytes: UnsafeBufferPointer<UInt8>, _ given: XMLLimits) -> Stop {
        let limits = isPassingOver ? given.withinPassedOver : given
        var index = position
        defer { position = index }
        var end = scanEnd(bytes.count, limits)
        while index < end {
            if validator.isIdle {
                if state == .lessThan, let next = wholeTag(bytes, index, end, limits) {
                    index = next
                    if depth <= 1 { return .unit }
                }
                index = endOfRun(bytes, index, end, limits)
                guard index < end else { break }
                if bytes[index] == UInt8(ascii: "<"), beginMarkup(at: index) {
                    index += 1
                    if depth == 1 { end = scanEnd(bytes.count, limits) }
                    continue
                }
            }
            let before = validator
            do {
                let hasEndedUnit = try step(bytes[index], at: index, limits)
                index += 1
                if hasEndedUnit { return .unit }
            } catch {
                guard case .limitExceeded = error, mayPassOver(given) else { return .error(error) }
                // The byte comes again, with other limits.
                validator = before
                return .limit(error)
            }
            if state == .lessThan && depth <= 1 { end = scanEnd(bytes.count, limits) }
        }
        guard end == bytes.count else {
            let error = XMLStreamError.limitExceeded(
                "more than \(maximumBytes(limits)) bytes in one first-level element")
            return mayPassOver(given) ? .limit(error) : .error(error)
        }
        return .end
    }

    /// Whether the current unit is a first-level element that may be passed over from here.
    private func mayPassOver(_ limits: XMLLimits) -> Bool {
        guard limits.maximumPassedOverBytes > 0, !isPassingOver else { return false }
        switch state {
        case .startName, .inTag, .attributeName, .afterAttributeName, .beforeValue, .value, .afterValue, .slash,
            .reference, .entityName, .characterReference:
            return depth >= 1
        case .start, .misc, .between, .text, .closed, .lessThan, .endNameStart, .endName, .endSpace, .question,
            .declaration, .bang, .cdataOpen, .cdata:
            // What stands directly in the root and is no start tag is no element.
            return depth >= 2
        }
    }

    /// The bytes that the current unit may have.
    private func maximumBytes(_ limits: XMLLimits) -> Int {
        isPassingOver ? limits.maximumStanzaBytes : min(limits.maximumStanzaBytes, XMLLimits.ceilingOfStanzaBytes)
    }

    /// One past the last byte that the current unit may have in this buffer.
    private func scanEnd(_ count: Int, _ limits: XMLLimits) -> Int {
        guard !isBetweenUnits else { return count }
        return min(count, max(unitStart + maximumBytes(limits), 0))
    }

    /// Takes one byte. Returns whether it completed a unit.
    mutating func step(_ byte: UInt8, at index: Int, _ limits: XMLLimits) throws(XMLStreamError) -> Bool {
        if state == .start { try checkFirst(byte) }
        try validator.accept(byte)
        switch state {
        case .start, .misc, .between, .text, .closed:
            try stepContent(byte, at: index)
        case .lessThan:
            try stepLessThan(byte, limits)
        case .startName, .inTag, .attributeName, .afterAttributeName, .beforeValue, .value, .afterValue, .slash:
            return try stepStartTag(byte, at: index, limits)
        case .endNameStart, .endName, .endSpace:
            return try stepEndTag(byte, at: index, limits)
        case .reference, .entityName, .characterReference:
            try stepReference(byte)
        case .question, .declaration, .bang, .cdataOpen, .cdata:
            if try stepSpecial(byte) { tokenEnd = index + 1 }
        }
        return false
    }

    /// Character data, and white space where there may be none.
    private mutating func stepContent(_ byte: UInt8, at index: Int) throws(XMLStreamError) {
        if byte == UInt8(ascii: "<") {
            guard state != .closed else { throw .notWellFormed("data after the end of the stream") }
            mayDeclare = state == .start
            beginTag(at: index)
            return
        }
        if state == .text {
            if byte == UInt8(ascii: "&") { beginReference(returningTo: .text) }
            return
        }
        // RFC 6120 §4.2: between first-level elements only white space may stand; it is a keepalive (§4.6.1).
        guard Self.isSpace(byte) else {
            switch state {
            case .between: throw Self.textBetween
            case .closed: throw .notWellFormed("data after the end of the stream")
            default: throw .notWellFormed("character data before the root")
            }
        }
        guard depth == 0, state != .closed else { return }
        leadingSpace += 1
        guard leadingSpace <= XMLLimits.maximumSpaceBeforeRoot else {
            throw .limitExceeded("more than \(XMLLimits.maximumSpaceBeforeRoot) bytes of white space before the root")
        }
        state = .misc
    }

    /// The `<` of a tag or of something else.
    @inline(__always)
    private mutating func beginTag(at index: Int) {
        if depth <= 1 {
            unitStart = index
            elements = 0
        }
        state = .lessThan
    }

    /// Takes a `<` within the stream, where it needs no second look; otherwise returns `false` and changes nothing.
    @inline(__always)
    private mutating func beginMarkup(at index: Int) -> Bool {
        guard state == .text || state == .between else { return false }
        mayDeclare = false
        beginTag(at: index)
        return true
    }

    /// Character data that belongs to no first-level element.
    static var textBetween: XMLStreamError { .badFormat("character data between first-level elements") }

    /// Says what else than XML answers, when the first byte tells.
    private func checkFirst(_ byte: UInt8) throws(XMLStreamError) {
        switch byte {
        case 0x15, 0x16: throw .notWellFormed("the peer speaks TLS here, not XML")
        case 0xFE, 0xFF: throw .unsupportedEncoding("the stream begins as UTF-16")
        default: break
        }
    }

    /// Leaves a tag that has just ended. Returns whether it completed a unit.
    mutating func endTag(at index: Int) -> Bool {
        tokenEnd = index + 1
        switch depth {
        case 0: state = .closed
        case 1: state = .between
        default: state = .text
        }
        return depth <= 1
    }

    mutating func beginReference(returningTo state: State) {
        stateAfterReference = state
        collected.removeAll(keepingCapacity: true)
        self.state = .reference
    }

    /// XML white space (XML §2.3).
    @inline(__always)
    static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    /// Whether a name may begin with the byte. Bytes past ASCII pass: libxml2 knows the characters.
    @inline(__always)
    static func isNameStart(_ byte: UInt8) -> Bool {
        byte >= 0x80 || (byte >= 0x40 && nameLetters >> UInt64(byte & 63) & 1 == 1) || byte == UInt8(ascii: ":")
    }

    /// Whether a name may go on with the byte.
    @inline(__always)
    static func isName(_ byte: UInt8) -> Bool {
        byte >= 0x80 || (byte < 0x40 ? nameSigns : nameLetters) >> UInt64(byte & 63) & 1 == 1
    }

    /// The bytes 0x40 to 0x7F that may stand in a name, a bit each: letters and `_`.
    private static var nameLetters: UInt64 { 0x07FF_FFFE_87FF_FFFE }
    /// The bytes 0x00 to 0x3F that may stand in a name, a bit each: `-`, `.`, digits and `:`.
    private static var nameSigns: UInt64 { 0x07FF_6000_0000_0000 }
}
