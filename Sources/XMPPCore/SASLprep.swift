// SPDX-License-Identifier: Apache-2.0

internal import CUnistring

/// Why a string is not prepared. Does not say which character: the string is a password.
package enum SASLprepError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A character that no prepared string may hold (RFC 4013 §2.3).
    case prohibitedCharacter
    /// Right-to-left and left-to-right characters mixed in a way that displays ambiguously (RFC 3454 §6).
    case mixedDirections
    /// Memory ran out.
    case outOfMemory

    /// One clause for people.
    package var description: String {
        switch self {
        case .prohibitedCharacter: "a character is not allowed in a password"
        case .mixedDirections: "right-to-left and left-to-right characters are mixed in a way that is not allowed"
        case .outOfMemory: "out of memory"
        }
    }
}

/// SASLprep, the preparation of passwords for SCRAM (RFC 4013, a profile of RFC 3454).
///
/// SCRAM is bound to SASLprep and not to its successor OpaqueString (RFC 8265), which keeps `ª` where SASLprep makes
/// `a` of it: both ends hash what comes out of here. Characters younger than Unicode 3.2 are let through unchanged, as
/// for the "queries" of RFC 3454 §7, since whether such a password is right is for the server to say.
package enum SASLprep {
    /// The prepared form of `text`; may be empty.
    ///
    /// - Throws: ``SASLprepError``.
    package static func prepare(_ text: String) throws(SASLprepError) -> String {
        var mapped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if isSpace(scalar) {
                mapped.append(" ")
            } else if !isMappedToNothing(scalar) {
                mapped.append(scalar)
            }
        }
        let normalized = try normalize(mapped)
        // RFC 4013 §2.3: checked on what the mapping and the normalisation have left.
        guard !normalized.unicodeScalars.contains(where: { isSpace($0) || isProhibited($0) }) else {
            throw .prohibitedCharacter
        }
        try checkDirections(normalized.unicodeScalars)
        return normalized
    }

    /// RFC 3454 §6: text with a right-to-left character begins and ends with one, and has no left-to-right one.
    private static func checkDirections(_ scalars: String.UnicodeScalarView) throws(SASLprepError) {
        guard let first = scalars.first, let last = scalars.last, scalars.contains(where: isRightToLeft) else { return }
        let hasLeftToRight = scalars.contains { Int(xmpp_bidi_class($0.value)) == XMPP_BIDI_L && !isYounger($0) }
        guard !hasLeftToRight, isRightToLeft(first), isRightToLeft(last) else { throw .mixedDirections }
    }

    private static func isRightToLeft(_ scalar: Unicode.Scalar) -> Bool {
        let direction = Int(xmpp_bidi_class(scalar.value))
        return (direction == XMPP_BIDI_R || direction == XMPP_BIDI_AL) && !isYounger(scalar)
    }

    /// NFKC as of Unicode 3.2 (RFC 4013 §2.2, RFC 3454 §4): what is younger stays as it is.
    private static func normalize(_ scalars: String.UnicodeScalarView) throws(SASLprepError) -> String {
        var result = ""
        var rest = scalars[...]
        while !rest.isEmpty {
            let old = rest.prefix { !isYounger($0) }
            result += try compatibilityComposition(of: String(old))
            rest = rest[old.endIndex...]
            let young = rest.prefix(while: isYounger)
            result.unicodeScalars.append(contentsOf: young)
            rest = rest[young.endIndex...]
        }
        return result
    }

    /// NFKC as of the Unicode of today, by `u8_normalize`.
    private static func compatibilityComposition(of text: String) throws(SASLprepError) -> String {
        let input = Array(text.utf8)
        // The longest expansion, that of U+FDFA, makes eleven octets of each one.
        let capacity = input.count * 11
        var written = 0
        let output = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            written = input.withUnsafeBufferPointer {
                xmpp_nfkc($0.baseAddress, $0.count, buffer.baseAddress, buffer.count)
            }
            count = max(0, written)
        }
        guard written >= 0 else { throw .outOfMemory }
        return String(decoding: output, as: UTF8.self)
    }

    /// RFC 3454 table C.1.2: spaces other than U+0020, which RFC 4013 §2.1 maps to it.
    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0xA0, 0x1680, 0x2000...0x200B, 0x202F, 0x205F, 0x3000: true
        default: false
        }
    }

    /// RFC 3454 table B.1.
    private static func isMappedToNothing(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0xAD, 0x34F, 0x1806, 0x180B...0x180D, 0x200B...0x200D, 0x2060, 0xFE00...0xFE0F, 0xFEFF: true
        default: false
        }
    }

    /// RFC 3454 tables C.2.1 to C.9.
    private static func isProhibited(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // C.2.1 and C.2.2: controls.
        case 0...0x1F, 0x7F...0x9F, 0x6DD, 0x70F, 0x180E, 0x200C, 0x200D, 0x2028, 0x2029, 0x2060...0x2063: true
        case 0x206A...0x206F, 0xFEFF, 0xFFF9...0xFFFC, 0x1D173...0x1D17A: true
        // C.3: private use.
        case 0xE000...0xF8FF, 0xF0000...0xFFFFD, 0x100000...0x10FFFD: true
        // C.4: no characters; C.5, surrogates, cannot stand in a Swift string.
        case 0xFDD0...0xFDEF: true
        // C.6 and C.7: not for plain text, not canonical.
        case 0xFFFD, 0x2FF0...0x2FFB: true
        // C.8: change what is displayed.
        case 0x340, 0x341, 0x200E, 0x200F, 0x202A...0x202E: true
        // C.9: tags.
        case 0xE0001, 0xE0020...0xE007F: true
        case let value: value & 0xFFFE == 0xFFFE
        }
    }

    /// Whether Unicode 3.2, which RFC 3454 is fixed to, does not have the character.
    private static func isYounger(_ scalar: Unicode.Scalar) -> Bool {
        guard let age = scalar.properties.age else { return true }
        return (age.major, age.minor) > (3, 2)
    }
}
