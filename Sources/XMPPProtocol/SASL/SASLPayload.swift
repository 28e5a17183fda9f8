// SPDX-License-Identifier: Apache-2.0

internal import XMPPCrypto

/// SASL data as the character data of `<auth/>`, `<challenge/>`, `<response/>` and `<success/>` (RFC 6120 §6.4).
package enum SASLPayload {
    /// The longest decoded challenge or additional data taken from a server: 8 KiB.
    ///
    /// A SCRAM message is a few hundred octets; the limit keeps a server from making us buffer and hash megabytes.
    package static let maximumByteCount = 8 * 1024

    /// The text for `<auth/>`: `nil` for no initial response, `=` for an empty one (RFC 6120 §6.4.2).
    package static func encodeInitialResponse(_ bytes: [UInt8]?) -> String? {
        guard let bytes else { return nil }
        return bytes.isEmpty ? "=" : Base64.encode(bytes)
    }

    /// The text for `<response/>`; empty for an empty response.
    package static func encode(_ bytes: [UInt8]) -> String {
        Base64.encode(bytes)
    }

    /// The octets of a `<challenge/>`; an empty text and `=` both stand for none.
    ///
    /// - Throws: ``SASLError/notBase64`` and ``SASLError/challengeTooLong(maximum:)``.
    package static func decode(_ text: String) throws(SASLError) -> [UInt8] {
        // Measured before decoding, so that an oversized text costs nothing more.
        guard text.utf8.count <= (maximumByteCount + 2) / 3 * 4 else {
            throw .challengeTooLong(maximum: maximumByteCount)
        }
        if text == "=" { return [] }
        guard let bytes = Base64.decode(text) else { throw .notBase64 }
        guard bytes.count <= maximumByteCount else { throw .challengeTooLong(maximum: maximumByteCount) }
        return bytes
    }

    /// The additional data of a `<success/>`: `nil` for an empty element, none for `=` (RFC 6120 §6.4.6).
    ///
    /// - Throws: ``SASLError/notBase64`` and ``SASLError/challengeTooLong(maximum:)``.
    package static func decodeAdditionalData(_ text: String) throws(SASLError) -> [UInt8]? {
        text.isEmpty ? nil : try decode(text)
    }
}
