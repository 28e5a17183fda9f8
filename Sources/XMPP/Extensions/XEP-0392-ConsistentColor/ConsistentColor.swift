// SPDX-License-Identifier: Apache-2.0

internal import XMPPCrypto

/// The colour in which every program shows somebody, made of the name alone (XEP-0392).
///
/// The name is the bare address of a contact, the nickname of an occupant of a room (§5.1).
public struct ConsistentColor: Hashable, Sendable {
    /// The angle of the hue in degrees, 0 up to 360 (§6.1).
    public let hue: Double

    /// The colour of a name.
    ///
    /// - Parameter name: A bare address or a nickname; any text, also an empty one.
    public init(of name: String) {
        let digest = (try? Digest.sha1.hash(name)) ?? []
        let number = digest.count >= 2 ? Int(digest[0]) | Int(digest[1]) << 8 : 0
        hue = Double(number) / 65_536 * 360
    }

    /// Red, green and blue, each 0 to 1, of the hue in HSLuv (§6.2).
    ///
    /// - Parameters:
    ///   - saturation: 0 to 100; what is outside counts as the nearest.
    ///   - lightness: 0 to 100; what is outside counts as the nearest.
    public func rgb(saturation: Double = 100, lightness: Double = 50) -> (red: Double, green: Double, blue: Double) {
        HSLuv.rgb(hue: hue, saturation: min(max(saturation, 0), 100), lightness: min(max(lightness, 0), 100))
    }

    /// The colour as on the web, at saturation 100 and lightness 50: `#` and six hexadecimal digits.
    public var hexadecimal: String {
        let (red, green, blue) = rgb()
        return "#"
            + [red, green, blue].map { part in
                let byte = String(Int((min(max(part, 0), 1) * 255).rounded()), radix: 16)
                return byte.count < 2 ? "0" + byte : byte
            }.joined()
    }
}
