// SPDX-License-Identifier: Apache-2.0

/// Checks bytes as UTF-8 one by one, so that a character may be cut anywhere between two reads (RFC 3629 §4), and
/// as characters that XML 1.0 allows (XML §2.2).
///
/// libxml2 decides differently about the same broken sequence depending on where a read ended; this does not.
struct UTF8Validator {
    /// Continuation bytes that the current character still needs.
    private var needed: UInt8 = 0
    /// The range that the next continuation byte must be in: narrower than 80–BF where it rules out overlong forms,
    /// surrogates and what lies past U+10FFFF.
    private var low: UInt8 = 0x80
    private var high: UInt8 = 0xBF
    /// Whether the character began with EF BF: then BE and BF would make U+FFFE and U+FFFF.
    private var isLastRow = false

    /// Whether the bytes so far end with a whole character.
    var isIdle: Bool { needed == 0 }

    /// Takes the next byte.
    ///
    /// - Throws: `unsupportedEncoding` for bytes that are not UTF-8, `notWellFormed` for a character that XML lacks.
    @inline(__always)
    mutating func accept(_ byte: UInt8) throws(XMLStreamError) {
        if needed == 0 && byte < 0x80 {
            guard byte >= 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else {
                throw .notWellFormed("a control character that XML does not allow")
            }
            return
        }
        if needed > 0 { try acceptContinuation(byte) } else { try acceptLead(byte) }
    }

    private mutating func acceptLead(_ byte: UInt8) throws(XMLStreamError) {
        low = 0x80
        high = 0xBF
        isLastRow = false
        switch byte {
        case 0xC2...0xDF:
            needed = 1
        case 0xE0...0xEF:
            needed = 2
            if byte == 0xE0 { low = 0xA0 }
            if byte == 0xED { high = 0x9F }
            isLastRow = byte == 0xEF
        case 0xF0...0xF4:
            needed = 3
            if byte == 0xF0 { low = 0x90 }
            if byte == 0xF4 { high = 0x8F }
        default:
            throw Self.broken
        }
    }

    private mutating func acceptContinuation(_ byte: UInt8) throws(XMLStreamError) {
        guard byte >= low && byte <= high else { throw Self.broken }
        if needed == 1 && isLastRow && byte >= 0xBE {
            throw .notWellFormed("a noncharacter that XML does not allow")
        }
        if needed == 2 { isLastRow = isLastRow && byte == 0xBF }
        needed -= 1
        low = 0x80
        high = 0xBF
    }

    private static var broken: XMLStreamError { .unsupportedEncoding("the bytes are not UTF-8") }
}
