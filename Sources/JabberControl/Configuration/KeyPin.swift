// SPDX-License-Identifier: Apache-2.0

/// The fingerprint of a server's key as settings and options write it: SHA-256, 64 hexadecimal digits.
package enum KeyPin {
    /// How many an account may have; 16.
    package static let maximumPins = 16

    /// The form in which a fingerprint is stored: lower case, no colons.
    ///
    /// - Returns: `nil` for what is no fingerprint.
    package static func normalized(_ text: String) -> String? {
        let digits = text.lowercased().utf8.filter { $0 != UInt8(ascii: ":") }
        let isHexadecimal = digits.allSatisfy { byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
        }
        return digits.count == 64 && isHexadecimal ? String(decoding: digits, as: UTF8.self) : nil
    }

    /// What is wrong with a list of fingerprints.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/badData`` for one that is none, and for more than
    ///   ``maximumPins``.
    package static func list(_ texts: [String]) throws(ControlError) -> [String] {
        guard texts.count <= maximumPins else {
            throw ControlError(.badData, "more than \(maximumPins) keys are pinned")
        }
        var pins: [String] = []
        for text in texts {
            guard let pin = normalized(text) else {
                throw ControlError(
                    .badData,
                    "\"\(TerminalText.line(text))\" is not the SHA-256 fingerprint of a key: 64 hexadecimal digits, as diag "
                        + "and status show them")
            }
            if !pins.contains(pin) { pins.append(pin) }
        }
        return pins
    }
}
