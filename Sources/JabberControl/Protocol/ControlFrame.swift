// SPDX-License-Identifier: Apache-2.0

/// Why a line is no message of the control protocol.
package enum ControlFrameError: Error, Hashable, Sendable {
    /// The line is longer than ``ControlFrame/maximumBytes``.
    case tooLong
    /// The line is not JSON.
    case notJSON(JSONError)
    /// The line is JSON but no message; the id of the request when it could be read.
    case notMessage(String, id: ControlID?)

    /// The failure as it is answered.
    package var controlError: ControlError {
        switch self {
        case .tooLong: ControlError(.badFrame, "a control message is longer than \(ControlFrame.maximumBytes) bytes")
        case .notJSON(let error): ControlError(.badFrame, "a control message is not JSON: \(error)")
        case .notMessage(let reason, _): ControlError(.badRequest, reason)
        }
    }

    /// Which request the failure answers, when it could be read.
    package var id: ControlID? {
        if case .notMessage(_, let id) = self { id } else { nil }
    }
}

/// Messages as lines: one JSON object in UTF-8 and a line feed.
package enum ControlFrame {
    /// The longest line in bytes, without its line feed: 1 MiB.
    package static let maximumBytes = 1 << 20

    /// The longest message of the daemon in bytes: 32 MiB. One that is longer than a line comes in pieces.
    package static let maximumLongBytes = 32 << 20

    /// The line of a message, with its line feed.
    ///
    /// - Parameter maximum: How long it may be, in bytes without its line feed.
    /// - Throws: ``ControlFrameError/tooLong``.
    package static func encode(
        _ message: ControlMessage, maximum: Int = maximumBytes
    ) throws(ControlFrameError) -> [UInt8] {
        var object: JSONObject = ["jsonrpc": "2.0"]
        switch message {
        case .request(let request):
            object["id"] = request.id.json
            object["method"] = .string(request.method)
            object["params"] = .object(request.params)
        case .notification(let notification):
            object["method"] = .string(notification.method)
            object["params"] = .object(notification.params)
        case .response(let response):
            object["id"] = response.id?.json ?? .null
            switch response.result {
            case .success(let value): object["result"] = value
            case .failure(let error): object["error"] = error.response
            }
        }
        var line = JSONValue.object(object).encoded()
        guard line.count <= maximum else { throw .tooLong }
        line.append(UInt8(ascii: "\n"))
        return line
    }

    /// The message in a line, with or without its line feed.
    ///
    /// - Parameter maximum: How long it may be, in bytes without its line feed.
    /// - Throws: ``ControlFrameError`` for anything that is not exactly one message.
    package static func decode(
        _ line: some Collection<UInt8>, maximum: Int = maximumBytes
    ) throws(ControlFrameError) -> ControlMessage {
        guard line.count <= maximum + 1 else { throw .tooLong }
        let value: JSONValue
        do {
            value = try JSONReader.read(line)
        } catch {
            throw .notJSON(error)
        }
        guard let object = value.objectValue else { throw .notMessage("a control message is an object", id: nil) }
        let id = ControlID(json: object["id"])
        guard object["jsonrpc"] == "2.0" else { throw .notMessage("\"jsonrpc\" must be \"2.0\"", id: id) }
        if object["method"] != nil { return try call(object, id: id) }
        return .response(ControlResponse(id: id, result: try outcome(object, id: id)))
    }

    private static func call(_ object: JSONObject, id: ControlID?) throws(ControlFrameError) -> ControlMessage {
        guard let method = object.string("method") else { throw .notMessage("\"method\" must be a string", id: id) }
        guard let params = (object["params"] ?? .object([:])).objectValue else {
            throw .notMessage("\"params\" must be an object", id: id)
        }
        if let id { return .request(ControlRequest(id: id, method: method, params: params)) }
        guard object["id"] == nil else { throw .notMessage("\"id\" must be a whole number or a string", id: nil) }
        return .notification(ControlNotification(method: method, params: params))
    }

    private static func outcome(
        _ object: JSONObject, id: ControlID?
    ) throws(ControlFrameError) -> Result<JSONValue, ControlError> {
        // JSON-RPC 2.0 §5: either a result or an error, not both.
        switch (object["result"], object["error"]) {
        case (let result?, nil) where id != nil: return .success(result)
        case (nil, let error?): return .failure(ControlError(response: error))
        default: throw .notMessage("neither a request nor an answer", id: id)
        }
    }
}

/// Cuts a stream of bytes into lines, whatever the pieces in which it arrives.
package struct ControlLineReader: Sendable {
    private var buffer: [UInt8] = []
    private var hasFailed = false

    /// Makes a reader that has seen nothing.
    package init() {}

    /// Takes bytes and gives the lines that they complete, without line feeds; empty lines are left out.
    ///
    /// Once a line was too long nothing more is read: the rest of it could look like a message.
    ///
    /// - Returns: The complete lines, and whether the line after them is longer than ``ControlFrame/maximumBytes``.
    package mutating func feed(_ bytes: [UInt8]) -> (lines: [[UInt8]], isTooLong: Bool) {
        guard !hasFailed else { return ([], true) }
        var lines: [[UInt8]] = []
        var rest = bytes[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            buffer.append(contentsOf: rest[..<end])
            rest = rest[(end + 1)...]
            if buffer.count > ControlFrame.maximumBytes { break }
            if !buffer.isEmpty { lines.append(buffer) }
            buffer = []
        }
        if buffer.count <= ControlFrame.maximumBytes { buffer.append(contentsOf: rest) }
        if buffer.count > ControlFrame.maximumBytes {
            buffer = []
            hasFailed = true
        }
        return (lines, hasFailed)
    }
}
