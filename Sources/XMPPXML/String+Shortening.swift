// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The beginning of a foreign text, with `…` where something is missing behind it.
    ///
    /// By Unicode scalars: one `Character` may have a million of them.
    ///
    /// - Parameter maximum: How many scalars of it there may be, so that it has at most four times as many bytes.
    package func shortened(toScalars maximum: Int) -> String {
        let scalars = unicodeScalars
        guard let end = scalars.index(scalars.startIndex, offsetBy: maximum, limitedBy: scalars.endIndex),
            end != scalars.endIndex
        else { return self }
        return String(self[..<end]) + "…"
    }
}
