// SPDX-License-Identifier: Apache-2.0

/// One `name=value` of a SCRAM message (RFC 5802 §5.1, §7).
internal struct SCRAMAttribute: Hashable {
    /// The letter.
    let name: UInt8
    /// What follows the equals sign; never empty.
    let value: [UInt8]

    /// Splits a message of the server at its commas.
    ///
    /// The grammar is that of RFC 5802 §7, `attr-val`: a letter, `=`, and UTF-8 without NUL or comma, at least one.
    static func parse(_ message: [UInt8], limits: SCRAMLimits) throws(SASLError) -> [SCRAMAttribute] {
        guard message.count <= limits.maximumMessageByteCount else {
            throw .challengeTooLong(maximum: limits.maximumMessageByteCount)
        }
        guard String(validating: message, as: UTF8.self) != nil, !message.contains(0) else { throw .malformedMessage }
        var attributes: [SCRAMAttribute] = []
        for part in message.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            guard part.count >= 3, let name = part.first, isLetter(name),
                part.dropFirst().first == UInt8(ascii: "=")
            else { throw .malformedMessage }
            attributes.append(SCRAMAttribute(name: name, value: Array(part.dropFirst(2))))
        }
        return attributes
    }

    /// The value as an error word; unknown words are `other-error` (RFC 5802 §7).
    var serverError: SCRAMServerError {
        SCRAMServerError(rawValue: String(decoding: value, as: UTF8.self)) ?? .otherError
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}
