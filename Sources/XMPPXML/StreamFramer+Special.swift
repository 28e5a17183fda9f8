// SPDX-License-Identifier: Apache-2.0

/// References, CDATA sections, the XML declaration, and what XMPP forbids.
extension StreamFramer {
    /// The longest XML declaration taken, in bytes; the longest sensible one has 56.
    private static let maximumDeclarationBytes = 256

    /// A byte of `&…;`.
    mutating func stepReference(_ byte: UInt8) throws(XMLStreamError) {
        switch state {
        case .reference:
            if byte == UInt8(ascii: "#") {
                state = .characterReference
            } else {
                guard Self.isNameStart(byte) else { throw .notWellFormed("an & that begins no reference") }
                collected.append(byte)
                state = .entityName
            }
        case .entityName:
            if byte == UInt8(ascii: ";") {
                try checkEntity()
                state = stateAfterReference
            } else {
                guard Self.isName(byte) else { throw .notWellFormed("a reference without ;") }
                // Six bytes are enough to be none of the five, whose names have four at most.
                if collected.count < 6 { collected.append(byte) }
            }
        default:
            if byte == UInt8(ascii: ";") {
                state = stateAfterReference
            } else {
                guard Self.isName(byte) && byte < 0x80 else { throw .notWellFormed("a reference without ;") }
            }
        }
    }

    /// RFC 6120 §11.1: no entity references but to the five predefined entities (XML §4.6).
    private func checkEntity() throws(XMLStreamError) {
        switch String(decoding: collected, as: UTF8.self) {
        case "amp", "lt", "gt", "quot", "apos": break
        default: throw .restrictedXML("a reference to an entity that is not predefined")
        }
    }

    /// A byte after `<!` or `<?`. Returns whether it completed a CDATA section.
    mutating func stepSpecial(_ byte: UInt8) throws(XMLStreamError) -> Bool {
        switch state {
        case .question:
            try stepQuestion(byte)
        case .declaration:
            try stepDeclaration(byte)
        case .bang:
            try stepBang(byte)
        case .cdataOpen:
            let expected = Array("CDATA[".utf8)
            guard count < expected.count && byte == expected[count] else {
                throw .notWellFormed("a malformed CDATA section")
            }
            count += 1
            if count == expected.count {
                count = 0
                state = .cdata
            }
        default:
            if byte == UInt8(ascii: ">") && count == 2 {
                state = .text
                return true
            }
            count = byte == UInt8(ascii: "]") ? min(count + 1, 2) : 0
        }
        return false
    }

    private mutating func stepBang(_ byte: UInt8) throws(XMLStreamError) {
        switch byte {
        case UInt8(ascii: "-"):
            throw .restrictedXML("a comment")
        case UInt8(ascii: "D"):
            // Refused here, no declaration in it has been looked at.
            throw .restrictedXML("a document type declaration")
        case UInt8(ascii: "["):
            guard depth > 0 else { throw .notWellFormed("character data before the root") }
            guard depth > 1 else { throw Self.textBetween }
            count = 0
            state = .cdataOpen
        default:
            throw .notWellFormed("no markup after <!")
        }
    }

    private mutating func stepQuestion(_ byte: UInt8) throws(XMLStreamError) {
        let expected = Array("xml".utf8)
        if count < expected.count && byte == expected[count] {
            count += 1
        } else if count == expected.count && Self.isSpace(byte) {
            // XML §2.8: the declaration is the very first thing or not there.
            guard mayDeclare else { throw .notWellFormed("an XML declaration that is not at the start") }
            collected = [byte]
            state = .declaration
        } else {
            throw .restrictedXML("a processing instruction")
        }
    }

    private mutating func stepDeclaration(_ byte: UInt8) throws(XMLStreamError) {
        if byte == UInt8(ascii: ">") && collected.last == UInt8(ascii: "?") {
            collected.removeLast()
            try XMLDeclaration.check(collected)
            collected = []
            state = .misc
            return
        }
        guard collected.count < Self.maximumDeclarationBytes else {
            throw .notWellFormed("the XML declaration does not end")
        }
        collected.append(byte)
    }
}
