// SPDX-License-Identifier: Apache-2.0

internal import CUnistring

// The only file that calls libunistring: properties of a character, NFC and lower case.

extension PRECIS {
    /// The string in Normalization Form C (`u8_normalize`).
    static func normalize(_ string: String) -> String {
        transform(string, xmpp_nfc)
    }

    /// The Unicode operation toLowerCase, final sigma included, for no language in particular (`u8_tolower`).
    static func lowercase(_ string: String) -> String {
        transform(string, xmpp_lowercase)
    }

    /// Calls a function of libunistring with the UTF-8 octets and their count: U+0000 is a character like others.
    private static func transform(
        _ string: String,
        _ function: (UnsafePointer<UInt8>?, Int, UnsafeMutablePointer<UInt8>?, Int) -> Int
    ) -> String {
        let octets = Array(string.utf8)
        guard !octets.isEmpty else { return string }
        // Neither operation makes UTF-8 more than three times as long.
        let output = [UInt8](unsafeUninitializedCapacity: octets.count * 3) { buffer, count in
            count = max(
                0,
                octets.withUnsafeBufferPointer { function($0.baseAddress, $0.count, buffer.baseAddress, buffer.count) })
        }
        return String(decoding: output, as: UTF8.self)
    }
}

extension String {
    /// A string of these characters.
    init(_ scalars: [Unicode.Scalar]) {
        self.init(String.UnicodeScalarView(scalars))
    }
}

/// Properties of a character that the rules ask for.
extension Unicode.Scalar {
    /// The classes that the Bidi Rule names (RFC 5893 §2).
    enum BidiClass: Int32 {
        case other = 0
        case leftToRight, rightToLeft, arabicLetter, arabicNumber, europeanNumber, europeanSeparator
        case commonSeparator, europeanTerminator, otherNeutral, boundaryNeutral, nonspacingMark
    }

    /// The joining types that the rule for ZERO WIDTH NON-JOINER names (RFC 5892 appendix A.1).
    enum JoiningType: Int32 {
        case other = 0
        case transparent, left, right, dual
    }

    /// The scripts that the contextual rules name (RFC 5892 appendix A).
    enum Script: Int32 {
        case other = 0
        case greek, hebrew, hiragana, katakana, han
    }

    /// The bit of the general category.
    var category: UInt32 { xmpp_category(value) }

    /// A space other than, or the same as, U+0020 (category Zs).
    var isSpaceSeparator: Bool { category & UInt32(XMPP_CATEGORY_ZS) != 0 }

    /// Default_Ignorable_Code_Point or Noncharacter_Code_Point.
    var isIgnorable: Bool { xmpp_is_ignorable(value) }

    /// Noncharacter_Code_Point.
    var isNoncharacter: Bool { xmpp_is_noncharacter(value) }

    /// Whether NFKC changes the character.
    var hasCompatibilityMapping: Bool { xmpp_has_compatibility(value) }

    /// Whether the canonical combining class is Virama.
    var isVirama: Bool { xmpp_is_virama(value) }

    /// The bidirectional class.
    var bidiClass: BidiClass { BidiClass(rawValue: xmpp_bidi_class(value)) ?? .other }

    /// The joining type.
    var joiningType: JoiningType { JoiningType(rawValue: xmpp_joining_type(value)) ?? .other }

    /// The script.
    var script: Script { Script(rawValue: xmpp_script(value)) ?? .other }

    /// A fullwidth or halfwidth character's decomposition, any other character itself (RFC 8265 §3.3.1).
    var widthMapped: Unicode.Scalar { Unicode.Scalar(xmpp_map_width(value)) ?? self }

    /// Ll, Lu, Lo, Nd, Lm, Mn, Mc: letters, marks and decimal digits (RFC 8264 §9.1).
    var isLetterDigit: Bool {
        let mask =
            XMPP_CATEGORY_LL | XMPP_CATEGORY_LU | XMPP_CATEGORY_LO | XMPP_CATEGORY_ND | XMPP_CATEGORY_LM
            | XMPP_CATEGORY_MN | XMPP_CATEGORY_MC
        return category & UInt32(mask) != 0
    }

    /// Lt, Nl, No, Me, spaces, symbols and punctuation: what only free text may hold (RFC 8264 §9.14 to §9.18).
    var isFreeformOnly: Bool {
        let letters = XMPP_CATEGORY_LT | XMPP_CATEGORY_NL | XMPP_CATEGORY_NO | XMPP_CATEGORY_ME | XMPP_CATEGORY_ZS
        let symbols = XMPP_CATEGORY_SM | XMPP_CATEGORY_SC | XMPP_CATEGORY_SK | XMPP_CATEGORY_SO
        let punctuation =
            XMPP_CATEGORY_PC | XMPP_CATEGORY_PD | XMPP_CATEGORY_PS | XMPP_CATEGORY_PE | XMPP_CATEGORY_PI
            | XMPP_CATEGORY_PF | XMPP_CATEGORY_PO
        return category & UInt32(letters | symbols | punctuation) != 0
    }

    /// Control characters (category Cc).
    var isControl: Bool { category & UInt32(XMPP_CATEGORY_CC) != 0 }

    /// Private use (category Co).
    var isPrivateUse: Bool { category & UInt32(XMPP_CATEGORY_CO) != 0 }

    /// Not assigned in the Unicode version of libunistring, and no noncharacter (RFC 8264 §9.10).
    var isUnassigned: Bool { category & UInt32(XMPP_CATEGORY_CN) != 0 && !isNoncharacter }
}
