// SPDX-License-Identifier: Apache-2.0

/// Names inside of GS2 headers and SCRAM messages.
enum GS2Name {
    /// A name with `=` and `,` escaped (`saslname`: RFC 5801 §4, RFC 5802 §5.1), behind a prefix such as `n=`.
    ///
    /// - Throws: ``SASLError/invalidUsername`` for an empty name or one with U+0000 (RFC 5802 §7).
    static func escape(_ name: String, prefix: String) throws(SASLError) -> [UInt8] {
        guard !name.isEmpty, !name.utf8.contains(0) else { throw .invalidUsername }
        return name.utf8.reduce(into: Array(prefix.utf8)) { escaped, byte in
            switch byte {
            case UInt8(ascii: "="): escaped += Array("=3D".utf8)
            case UInt8(ascii: ","): escaped += Array("=2C".utf8)
            default: escaped.append(byte)
            }
        }
    }
}
