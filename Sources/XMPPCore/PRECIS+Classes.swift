// SPDX-License-Identifier: Apache-2.0

extension PRECIS {
    /// The two string classes (RFC 8264 §4).
    enum StringClass {
        /// Letters, digits and ASCII symbols.
        case identifier
        /// Spaces, symbols, punctuation and compatibility characters as well.
        case freeform
    }

    /// What a character is to the string classes (RFC 8264 §8).
    enum Derived {
        /// In both classes.
        case valid
        /// In the FreeformClass only.
        case freeformOnly
        /// In both, beside certain other characters only.
        case contextual
        /// In neither; unassigned characters too.
        case disallowed
    }

    /// Refuses the first character that the class does not hold; contextual ones are looked at by
    /// ``checkContexts(_:)``.
    static func checkMembership(_ scalars: [Unicode.Scalar], in stringClass: StringClass) throws(PRECISError) {
        for scalar in scalars {
            switch derived(scalar) {
            case .valid, .contextual: continue
            case .freeformOnly where stringClass == .freeform: continue
            case .freeformOnly, .disallowed: throw .disallowed(scalar)
            }
        }
    }

    /// The derived property, by the algorithm and in the order of RFC 8264 §8.
    static func derived(_ scalar: Unicode.Scalar) -> Derived {
        // ASCII7 (§9.11) first, which no exception touches: most text ends here.
        if scalar.isASCII {
            switch scalar.value {
            case 0x21...0x7E: return .valid
            case 0x20: return .freeformOnly
            default: return .disallowed
            }
        }
        if let exception = exception(scalar) { return exception }
        if scalar.isUnassigned { return .disallowed }
        if scalar.isJoinControl { return .contextual }
        if scalar.isOldHangulJamo || scalar.isIgnorable || scalar.isControl { return .disallowed }
        if scalar.hasCompatibilityMapping { return .freeformOnly }
        if scalar.isLetterDigit { return .valid }
        return scalar.isFreeformOnly ? .freeformOnly : .disallowed
    }

    /// Characters whose property is fixed by hand (RFC 8264 §9.6, the same as in RFC 5892 §2.6).
    private static func exception(_ scalar: Unicode.Scalar) -> Derived? {
        switch scalar.value {
        case 0x00DF, 0x03C2, 0x06FD, 0x06FE, 0x0F0B, 0x3007: .valid
        case 0x00B7, 0x0375, 0x05F3, 0x05F4, 0x30FB, 0x0660...0x0669, 0x06F0...0x06F9: .contextual
        case 0x0640, 0x07FA, 0x302E, 0x302F, 0x3031...0x3035, 0x303B: .disallowed
        default: nil
        }
    }
}

extension Unicode.Scalar {
    /// ZERO WIDTH NON-JOINER and ZERO WIDTH JOINER (RFC 8264 §9.8).
    var isJoinControl: Bool { value == 0x200C || value == 0x200D }

    /// Conjoining jamo: Hangul_Syllable_Type L, V or T (RFC 8264 §9.9).
    var isOldHangulJamo: Bool {
        switch value {
        case 0x1100...0x11FF, 0xA960...0xA97C, 0xD7B0...0xD7C6, 0xD7CB...0xD7FB: true
        default: false
        }
    }
}
