// SPDX-License-Identifier: Apache-2.0

/// Tells emoji from words (UTS #51), by the properties that the Unicode database gives each character.
enum EmojiText {
    /// Whether a text is one emoji: a single sign, one with a skin tone, a flag, a keycap, or several that are joined
    /// to one.
    static func isEmoji(_ text: String) -> Bool {
        let scalars = Array(text.unicodeScalars)
        guard text.count == 1, let first = scalars.first else { return false }
        // Two letters make a flag.
        if isRegional(first) { return scalars.count == 2 && scalars.allSatisfy(isRegional) }
        // Digits, # and * are emoji only with a keycap around them.
        if first.isASCII { return first.properties.isEmoji && scalars.last?.value == 0x20E3 && scalars.count <= 3 }
        return first.properties.isEmoji && scalars.allSatisfy(isPart)
    }

    private static func isRegional(_ scalar: Unicode.Scalar) -> Bool {
        (0x1F1E6...0x1F1FF).contains(scalar.value)
    }

    /// What an emoji may be made of: signs, the joiner, the selector of the coloured form, and the tags of a flag.
    private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x200D, 0xFE0F, 0xE0020...0xE007F: true
        default: !scalar.isASCII && scalar.properties.isEmoji
        }
    }
}
