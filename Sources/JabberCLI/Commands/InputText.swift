// SPDX-License-Identifier: Apache-2.0

internal import JabberControl

/// Text from standard input and files.
enum InputText {
    /// The longest text that is sent, in bytes: a control message must have room for it even when every byte is
    /// escaped.
    static let maximumBytes = 128 << 10

    /// All of standard input, without the last line end.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/usage`` when there is nothing, ``ControlErrorCode/badData``
    ///   when it is no UTF-8 or too long.
    static func all(_ context: CommandContext) throws(ControlError) -> String {
        if context.environment.isInputTerminal && context.environment.isErrorTerminal {
            context.output.note("reading the text from the terminal; Ctrl-D ends it")
        }
        var bytes: [UInt8] = []
        while let piece = try context.environment.readInput() {
            bytes += piece
            guard bytes.count <= maximumBytes else { throw tooLong("standard input") }
        }
        let text = try text(bytes, of: "standard input")
        guard !text.isEmpty else { throw ControlError(.usage, "there is nothing on standard input") }
        return text
    }

    /// The text of a file, without the last line end.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/fileMissing`` or ``ControlErrorCode/badData``.
    static func file(_ path: String) throws(ControlError) -> String {
        guard let contents = try PrivateFile.read(path) else {
            throw ControlError(.fileMissing, "there is no file \(path)")
        }
        guard contents.bytes.count <= maximumBytes else { throw tooLong(path) }
        let text = try text(contents.bytes, of: path)
        guard !text.isEmpty else { throw ControlError(.badData, "\(path) is empty") }
        return text
    }

    /// Text of bytes, without the last line end.
    static func text(_ bytes: [UInt8], of source: String) throws(ControlError) -> String {
        var bytes = bytes[...]
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ControlError(.badData, "\(source) is not UTF-8 text")
        }
        return text
    }

    private static func tooLong(_ source: String) -> ControlError {
        ControlError(.badData, "\(source) is longer than \(maximumBytes) bytes")
    }
}

/// The lines of standard input, one by one as they come.
struct InputLines {
    private let context: CommandContext
    private var buffer: [UInt8] = []
    private var hasEnded = false

    init(_ context: CommandContext) {
        self.context = context
    }

    /// The next line that is not empty; `nil` at the end.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/badData`` when a line is no UTF-8 or too long.
    mutating func next() throws(ControlError) -> String? {
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let line = try InputText.text(Array(buffer[..<end]), of: "a line of standard input")
                buffer.removeSubrange(...end)
                if !line.isEmpty { return line }
            } else if hasEnded {
                defer { buffer = [] }
                return buffer.isEmpty ? nil : try InputText.text(buffer, of: "a line of standard input")
            } else if let piece = try context.environment.readInput() {
                buffer += piece
                guard buffer.count <= InputText.maximumBytes else {
                    throw ControlError(
                        .badData, "a line of standard input is longer than \(InputText.maximumBytes) bytes")
                }
            } else {
                hasEnded = true
            }
        }
    }
}
