// SPDX-License-Identifier: Apache-2.0

/// Tags: their shape and their limits.
extension StreamFramer {
    /// The byte after `<`.
    mutating func stepLessThan(_ byte: UInt8, _ limits: XMLLimits) throws(XMLStreamError) {
        count = 0
        switch byte {
        case UInt8(ascii: "/"):
            guard depth > 0 else { throw .notWellFormed("an end tag before the root") }
            state = .endNameStart
        case UInt8(ascii: "!"):
            state = .bang
        case UInt8(ascii: "?"):
            state = .question
        default:
            guard Self.isNameStart(byte) else { throw .notWellFormed("no name after <") }
            try beginElement(limits)
        }
    }

    private mutating func beginElement(_ limits: XMLLimits) throws(XMLStreamError) {
        // The root has depth 0 before it and is on level 0: what is open before is the new element's level.
        guard depth <= limits.maximumDepth else {
            throw .limitExceeded("more than \(limits.maximumDepth) levels of elements")
        }
        if depth > 0 {
            elements += 1
            guard elements <= limits.maximumElements else {
                throw .limitExceeded("more than \(limits.maximumElements) elements in one first-level element")
            }
        }
        attributes = 0
        state = .startName
        try countNameByte(limits)
    }

    private mutating func countNameByte(_ limits: XMLLimits) throws(XMLStreamError) {
        count += 1
        guard count <= limits.maximumNameBytes else {
            throw .limitExceeded("a name of more than \(limits.maximumNameBytes) bytes")
        }
    }

    private mutating func countNamespaceBytes(_ bytes: Int, _ limits: XMLLimits) throws(XMLStreamError) {
        guard isDeclaration else { return }
        count += bytes
        guard count <= limits.maximumNamespaceBytes else {
            throw .limitExceeded("a namespace of more than \(limits.maximumNamespaceBytes) bytes")
        }
    }

    /// A byte within a start tag. Returns whether it completed a unit.
    mutating func stepStartTag(_ byte: UInt8, at index: Int, _ limits: XMLLimits) throws(XMLStreamError) -> Bool {
        switch state {
        case .attributeName where Self.isName(byte):
            isDeclaration = isDeclaration && Self.isDeclaration(byte, at: count)
            try countNameByte(limits)
        case .startName where Self.isName(byte):
            try countNameByte(limits)
        case .startName, .inTag, .afterValue:
            return try stepBetweenAttributes(byte, at: index, limits)
        case .attributeName, .afterAttributeName, .beforeValue:
            try stepBeforeValue(byte)
        case .value:
            switch byte {
            case quote: state = .afterValue
            case UInt8(ascii: "<"): throw .notWellFormed("a < in an attribute")
            case UInt8(ascii: "&"):
                // As much as the longest character that it may stand for.
                try countNamespaceBytes(4, limits)
                beginReference(returningTo: .value)
            default: try countNamespaceBytes(1, limits)
            }
        default:
            // After the slash of an empty-element tag.
            guard byte == UInt8(ascii: ">") else { throw .notWellFormed("a / inside of a tag") }
            return endTag(at: index)
        }
        return false
    }

    private mutating func stepBetweenAttributes(
        _ byte: UInt8, at index: Int, _ limits: XMLLimits
    ) throws(XMLStreamError) -> Bool {
        switch byte {
        case UInt8(ascii: ">"):
            depth += 1
            return endTag(at: index)
        case UInt8(ascii: "/"):
            state = .slash
        case _ where Self.isSpace(byte):
            state = .inTag
        default:
            guard state == .inTag && Self.isNameStart(byte) else { throw .notWellFormed("a malformed tag") }
            attributes += 1
            guard attributes <= limits.maximumAttributes else {
                throw .limitExceeded("more than \(limits.maximumAttributes) attributes of one element")
            }
            count = 0
            isDeclaration = Self.isDeclaration(byte, at: 0)
            state = .attributeName
            try countNameByte(limits)
        }
        return false
    }

    private mutating func stepBeforeValue(_ byte: UInt8) throws(XMLStreamError) {
        if Self.isSpace(byte) {
            if state == .attributeName { state = .afterAttributeName }
        } else if state != .beforeValue && byte == UInt8(ascii: "=") {
            state = .beforeValue
        } else if state == .beforeValue && (byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"")) {
            quote = byte
            isDeclaration = isDeclaration && count >= Self.declarationStart.utf8CodeUnitCount - 1
            count = 0
            state = .value
        } else {
            throw .notWellFormed("an attribute without a quoted value")
        }
    }

    /// A byte within an end tag. Returns whether it completed a unit.
    mutating func stepEndTag(_ byte: UInt8, at index: Int, _ limits: XMLLimits) throws(XMLStreamError) -> Bool {
        if state == .endNameStart ? Self.isNameStart(byte) : state == .endName && Self.isName(byte) {
            state = .endName
            try countNameByte(limits)
            return false
        }
        guard state != .endNameStart else { throw .notWellFormed("no name after </") }
        if byte == UInt8(ascii: ">") {
            depth -= 1
            return endTag(at: index)
        }
        guard Self.isSpace(byte) else { throw .notWellFormed("a malformed end tag") }
        state = .endSpace
        return false
    }
}
