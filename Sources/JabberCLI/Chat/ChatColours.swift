// SPDX-License-Identifier: Apache-2.0

/// How names are coloured on this terminal: each in its own colour, where the terminal has enough of them (XEP-0392).
struct ChatColours: Sendable {
    /// How many colours there are.
    enum Depth: Hashable, Sendable {
        case none
        /// Six steps of each part (xterm's 256 colours).
        case palette
        case full
    }

    let depth: Depth

    /// - Parameters:
    ///   - isColoured: Whether colours are wanted at all.
    ///   - variables: `COLORTERM` and `TERM` tell what the terminal can do.
    init(isColoured: Bool, _ variables: [String: String]) {
        depth =
            !isColoured
            ? .none
            : ["truecolor", "24bit"].contains(variables["COLORTERM"] ?? "")
                ? .full : variables["TERM"]?.contains("256color") == true ? .palette : .none
        self.isColoured = isColoured
    }

    private let isColoured: Bool

    /// A clean text in one of the colours that everything has.
    func paint(_ text: String, _ colour: Colour) -> String {
        isColoured ? colour.paint(text) : text
    }

    /// A clean name in its own colour.
    ///
    /// - Parameter colour: `#` and six hexadecimal digits; anything else is no colour.
    func name(_ name: String, _ colour: String?) -> String {
        guard isColoured else { return name }
        guard depth != .none, let colour, let parts = Self.parts(colour) else { return paint(name, .strong) }
        let code =
            depth == .full
            ? "2;\(parts[0]);\(parts[1]);\(parts[2])"
            : "5;\(16 + 36 * Self.step(parts[0]) + 6 * Self.step(parts[1]) + Self.step(parts[2]))"
        return "\u{1B}[1;38;\(code)m\(name)\u{1B}[0m"
    }

    private static func parts(_ colour: String) -> [Int]? {
        let digits = Array(colour.utf8.dropFirst())
        guard colour.hasPrefix("#"), digits.count == 6 else { return nil }
        let parts = stride(from: 0, to: 6, by: 2).compactMap { place in
            Int(String(decoding: digits[place..<place + 2], as: UTF8.self), radix: 16)
        }
        return parts.count == 3 && parts.allSatisfy({ $0 >= 0 }) ? parts : nil
    }

    /// The nearest of the palette's steps 0, 95, 135, 175, 215 and 255.
    private static func step(_ part: Int) -> Int {
        part < 48 ? 0 : part < 115 ? 1 : min(5, (part - 35) / 40)
    }
}
