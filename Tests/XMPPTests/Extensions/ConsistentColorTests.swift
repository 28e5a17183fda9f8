// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPP

@Suite("Consistent colour generation (XEP-0392)")
struct ConsistentColorTests {
    @Test(
        "names have the hue and the colour of §13.1",
        arguments: [
            ("Romeo", 327.255249, [0.865, 0.000, 0.686]), ("juliet@capulet.lit", 209.410400, [0.000, 0.515, 0.573]),
            ("😺", 331.199341, [0.872, 0.000, 0.659]), ("council", 359.994507, [0.918, 0.000, 0.394]),
            ("Board", 171.430664, [0.000, 0.527, 0.457]),
        ] as [(String, Double, [Double])])
    func vectors(_ name: String, _ hue: Double, _ parts: [Double]) {
        let color = ConsistentColor(of: name)
        #expect(abs(color.hue - hue) < 0.000_001)
        let (red, green, blue) = color.rgb()
        for (part, wanted) in zip([red, green, blue], parts) { #expect(abs(part - wanted) < 0.001, "\(name)") }
    }

    @Test("any saturation and lightness gives a colour that can be shown")
    func range() {
        for name in ["", "a", "juliet@capulet.lit"] {
            for value in [-1.0, 0, 0.000_000_001, 3, 8, 50, 99, 100, 101] {
                let (red, green, blue) = ConsistentColor(of: name).rgb(saturation: 100 - value, lightness: value)
                #expect([red, green, blue].allSatisfy { (-0.001...1.001).contains($0) }, "\(value)")
            }
        }
        #expect(ConsistentColor(of: "Romeo").hexadecimal == "#dd00af")
    }
}
