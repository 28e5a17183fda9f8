// SPDX-License-Identifier: Apache-2.0

/// Whether the other side is to be told that somebody writes (XEP-0085 §5): when a text begins, and when it is given
/// up.
struct TypingNotice: Sendable {
    private var isTold = false

    /// The line is this now.
    ///
    /// - Returns: What to tell; `nil` for nothing.
    mutating func changed(_ text: String) -> Bool? {
        let isWriting =
            !text.trimmed.isEmpty && (!text.hasPrefix("/") || text.hasPrefix("/me ") || text.hasPrefix("//"))
        guard isWriting != isTold else { return nil }
        isTold = isWriting
        return isWriting
    }

    /// A text is sent, which says that nobody writes any more.
    mutating func sent() {
        isTold = false
    }

    /// Nothing was written for a while.
    ///
    /// - Returns: Whether that is to be told.
    mutating func paused() -> Bool {
        defer { isTold = false }
        return isTold
    }
}
