// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Colours by hue, saturation and lightness as people see them (HSLuv, revision 4): CIELUV whose chroma is a share of
/// what sRGB can show at that hue and lightness.
enum HSLuv {
    /// From linear sRGB to CIE XYZ, inverted (IEC 61966-2-1, D65).
    private static let matrix = [
        [3.240969941904521, -1.537383177570093, -0.498610760293],
        [-0.96924363628087, 1.87596750150772, 0.041555057407175],
        [0.055630079696993, -0.20397695888897, 1.056971514242878],
    ]
    /// The white point in u′v′.
    private static let white = (u: 0.19783000664283, v: 0.46831999493879)
    /// κ and ε of CIE 1976 L*.
    private static let kappa = 903.2962962
    private static let epsilon = 0.0088564516

    /// - Parameters:
    ///   - hue: In degrees.
    ///   - saturation: 0 to 100.
    ///   - lightness: 0 to 100.
    /// - Returns: Red, green and blue of sRGB, each about 0 to 1.
    static func rgb(hue: Double, saturation: Double, lightness: Double) -> (red: Double, green: Double, blue: Double) {
        if lightness > 99.9999999 { return (1, 1, 1) }
        if lightness < 0.00000001 { return (0, 0, 0) }
        let angle = hue / 180 * Double.pi
        let chroma = maximumChroma(lightness, angle) / 100 * saturation
        let (x, y, z) = xyz(lightness, chroma * cos(angle), chroma * sin(angle))
        let parts = matrix.map { row in companded(row[0] * x + row[1] * y + row[2] * z) }
        return (parts[0], parts[1], parts[2])
    }

    private static func xyz(_ lightness: Double, _ u: Double, _ v: Double) -> (x: Double, y: Double, z: Double) {
        let (uPrime, vPrime) = (u / (13 * lightness) + white.u, v / (13 * lightness) + white.v)
        let y = lightness > 8 ? pow((lightness + 16) / 116, 3) : lightness / kappa
        let x = 9 * y * uPrime / (4 * vPrime)
        return (x, y, (9 * y - 15 * vPrime * y - vPrime * x) / (3 * vPrime))
    }

    /// The gamma of sRGB.
    private static func companded(_ part: Double) -> Double {
        part <= 0.0031308 ? 12.92 * part : 1.055 * pow(part, 1 / 2.4) - 0.055
    }

    /// How far the ray of a hue goes until it meets the first of the six lines at which a part of sRGB becomes 0 or 1.
    private static func maximumChroma(_ lightness: Double, _ angle: Double) -> Double {
        let cube = pow(lightness + 16, 3) / 1_560_896
        let luminance = cube > epsilon ? cube : lightness / kappa
        var nearest = Double.infinity
        for row in matrix {
            for bound in [0.0, 1.0] {
                let top1 = (284_517 * row[0] - 94_839 * row[2]) * luminance
                let top2 =
                    (838_422 * row[2] + 769_860 * row[1] + 731_718 * row[0]) * lightness * luminance
                    - 769_860 * bound * lightness
                let bottom = (632_260 * row[2] - 126_452 * row[1]) * luminance + 126_452 * bound
                let (slope, intercept) = (top1 / bottom, top2 / bottom)
                let length = intercept / (sin(angle) - slope * cos(angle))
                if length >= 0 { nearest = min(nearest, length) }
            }
        }
        return nearest
    }
}
