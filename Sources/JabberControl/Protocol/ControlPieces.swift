// SPDX-License-Identifier: Apache-2.0

/// The lines of one message: its own, or, where that is longer than ``ControlFrame/maximumBytes``, pieces of it.
///
/// A piece is the notification `piece` with a part of the long line as `text`; the one with `last` ends it. Pieces come
/// one behind the other, and nothing in between. Whoever reads puts the texts together and has the line of the message.
struct ControlPieces: IteratorProtocol, Sendable {
    /// Bytes of the long line in one piece: 256 KiB. In a string each takes two at most, since the line has no control
    /// character.
    static let pieceBytes = 256 << 10

    private var rest: ArraySlice<UInt8>
    /// Whether it goes in pieces.
    let isLong: Bool

    /// - Parameter line: The line of a message, with its line feed, however long.
    init(_ line: [UInt8]) {
        isLong = line.count > ControlFrame.maximumBytes + 1
        // The line feed is the reader's to add.
        rest = isLong ? line.dropLast() : line[...]
    }

    /// Bytes that have not been given out.
    var count: Int { rest.count }

    /// The next line; `nil` when there was the last.
    mutating func next() -> [UInt8]? {
        guard !rest.isEmpty else { return nil }
        guard isLong else {
            defer { rest = [] }
            return Array(rest)
        }
        var end = min(rest.startIndex + Self.pieceBytes, rest.endIndex)
        // Not within a character.
        while end < rest.endIndex, end > rest.startIndex + 1, rest[end] & 0xC0 == 0x80 { end -= 1 }
        let text = String(decoding: rest[..<end], as: UTF8.self)
        rest = rest[end...]
        var params: JSONObject = ["text": .string(text)]
        if rest.isEmpty { params["last"] = true }
        return try? ControlFrame.encode(.notification(ControlNotification(method: Self.method, params: params)))
    }

    /// The method of the notification.
    static let method = "piece"
}

/// Puts pieces together again.
struct ControlPieceReader: Sendable {
    private var line: [UInt8] = []

    /// Takes a piece.
    ///
    /// - Returns: The line that it was the last of; `nil` when there is more to come.
    /// - Throws: ``ControlFrameError`` for what is no piece, and for a line longer than
    ///   ``ControlFrame/maximumLongBytes``.
    mutating func take(_ piece: ControlNotification) throws(ControlFrameError) -> [UInt8]? {
        guard let text = piece.params.string("text") else { throw .notMessage("a piece without a text", id: nil) }
        guard line.count + text.utf8.count <= ControlFrame.maximumLongBytes else {
            line = []
            throw .tooLong
        }
        line.append(contentsOf: text.utf8)
        guard piece.params.bool("last") == true else { return nil }
        defer { line = [] }
        return line
    }
}
