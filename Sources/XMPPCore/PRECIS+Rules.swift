// SPDX-License-Identifier: Apache-2.0

extension PRECIS {
    /// Applies the contextual rules of RFC 5892 appendix A, which PRECIS shares (RFC 8264 §4.2.2, §4.3.2).
    static func checkContexts(_ scalars: [Unicode.Scalar]) throws(PRECISError) {
        for (index, scalar) in scalars.enumerated() where !scalar.isASCII {
            guard satisfiesContext(scalar, at: index, in: scalars) else { throw .context(scalar) }
        }
    }

    /// Whether the character at the index stands where its rule wants it; characters without a rule always do.
    private static func satisfiesContext(_ scalar: Unicode.Scalar, at index: Int, in scalars: [Unicode.Scalar]) -> Bool
    {
        let before = index > 0 ? scalars[index - 1] : nil
        let after = index + 1 < scalars.count ? scalars[index + 1] : nil
        switch scalar.value {
        case 0x200C:  // ZERO WIDTH NON-JOINER (A.1)
            return before?.isVirama == true || breaksCursiveJoin(at: index, in: scalars)
        case 0x200D:  // ZERO WIDTH JOINER (A.2)
            return before?.isVirama == true
        case 0x00B7:  // MIDDLE DOT (A.3)
            return before == "l" && after == "l"
        case 0x0375:  // GREEK LOWER NUMERAL SIGN (A.4)
            return after?.script == .greek
        case 0x05F3, 0x05F4:  // HEBREW PUNCTUATION GERESH, GERSHAYIM (A.5, A.6)
            return before?.script == .hebrew
        case 0x30FB:  // KATAKANA MIDDLE DOT (A.7)
            return scalars.contains { [.hiragana, .katakana, .han].contains($0.script) }
        case 0x0660...0x0669:  // ARABIC-INDIC DIGITS (A.8)
            return !scalars.contains { (0x06F0...0x06F9).contains($0.value) }
        case 0x06F0...0x06F9:  // EXTENDED ARABIC-INDIC DIGITS (A.9)
            return !scalars.contains { (0x0660...0x0669).contains($0.value) }
        default:
            return true
        }
    }

    /// Whether the non-joiner stands between two letters that would join: (L|D) T* ZWNJ T* (R|D) (RFC 5892 A.1).
    private static func breaksCursiveJoin(at index: Int, in scalars: [Unicode.Scalar]) -> Bool {
        let before = scalars[..<index].last { $0.joiningType != .transparent }?.joiningType
        let after = scalars[(index + 1)...].first { $0.joiningType != .transparent }?.joiningType
        return (before == .left || before == .dual) && (after == .right || after == .dual)
    }

    /// Applies the Bidi Rule to a string that holds right-to-left characters (RFC 8265 §3.3.2, RFC 5893 §2).
    static func checkDirection(_ scalars: [Unicode.Scalar]) throws(PRECISError) {
        let classes = scalars.map(\.bidiClass)
        guard classes.contains(where: { [.rightToLeft, .arabicLetter, .arabicNumber].contains($0) }) else { return }
        // Conditions 1 and 5: it starts with R or AL, for one that starts with L cannot hold what the guard found.
        guard let first = classes.first, first == .rightToLeft || first == .arabicLetter else { throw .bidirectional }
        // Condition 2.
        guard !classes.contains(where: { $0 == .leftToRight || $0 == .other }) else { throw .bidirectional }
        // Condition 3.
        let last = classes.last { $0 != .nonspacingMark }
        guard let last, [.rightToLeft, .arabicLetter, .europeanNumber, .arabicNumber].contains(last) else {
            throw .bidirectional
        }
        // Condition 4.
        guard !(classes.contains(.europeanNumber) && classes.contains(.arabicNumber)) else { throw .bidirectional }
    }
}
