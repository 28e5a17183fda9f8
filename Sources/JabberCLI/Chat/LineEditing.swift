// SPDX-License-Identifier: Apache-2.0

package import JabberControl

/// Takes lines from a person at a terminal, while others come above the one that is being written.
package protocol LineEditing: Sendable {
    /// Takes lines until there are no more, ``end()`` is called, or a line says that it is the last. Blocks its thread.
    ///
    /// - Throws: `ControlError` when the terminal cannot be used.
    func run(_ work: LineWork) throws(ControlError)

    /// Shows lines above the one that is being written; they must be clean. The prompt is asked for anew. From any
    /// thread.
    func show(_ lines: [String])

    /// Ends ``run(_:)`` soon. From any thread.
    func end()
}

/// What a line editor asks whom it works for, on its own thread.
package struct LineWork: Sendable {
    /// What stands before the line: clean, but for colours.
    package var prompt: @Sendable () -> String
    /// What the end of a text may become.
    package var complete: @Sendable (_ text: String) -> LineCompletion
    /// The line is this now.
    package var changed: @Sendable (_ text: String) -> Void
    /// A line was entered.
    ///
    /// - Returns: Whether there may be another one.
    package var entered: @Sendable (_ text: String) -> Bool
}

/// What a word may become.
package struct LineCompletion: Hashable, Sendable {
    /// How many scalars at the end of the text are the word.
    package var length = 0
    /// What may stand there instead, sorted.
    package var candidates: [String] = []

    /// The longest beginning that all candidates have.
    package var common: String {
        guard let first = candidates.first else { return "" }
        return candidates.dropFirst().reduce(first) { common, other in
            String(zip(common, other).prefix { $0 == $1 }.map(\.0))
        }
    }
}
