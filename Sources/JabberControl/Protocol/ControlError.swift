// SPDX-License-Identifier: Apache-2.0

/// A failure as the daemon reports it and the command prints it. No secret and no message body is ever in it.
public struct ControlError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure.
    public var code: ControlErrorCode
    /// What happened, for people: names, numbers, what to do.
    public var message: String
    /// The exit code of the command; the table's unless the other side said otherwise.
    public var exit: ExitCode
    /// Whether the same command may succeed later without a change.
    public var retry: Bool
    /// The stanza error behind it (RFC 6120 §8.3): `type`, `condition`, `text`.
    public var stanza: JSONObject?
    /// The account it happened to.
    public var account: String?
    /// Where a connection failed: `host:port`, or the address of a WebSocket.
    public var endpoint: String?
    /// The part of the way to a session in which it failed: `lookup`, `connection`, `tls`, `authentication` or
    /// `session`.
    public var phase: String?

    /// Makes an error; exit code and retry flag come from the table of codes.
    package init(
        _ code: ControlErrorCode, _ message: String, stanza: JSONObject? = nil, account: String? = nil
    ) {
        self.code = code
        self.message = message
        let row = code.row
        exit = row.exit
        retry = row.retry
        self.stanza = stanza
        self.account = account
    }

    /// The message as part of a sentence: without the full stop that those of the library bring.
    package var clause: Substring {
        message.hasSuffix(".") ? message.dropLast() : message[...]
    }

    /// The message, after the code.
    public var description: String {
        "\(code.rawValue): \(message)"
    }

    /// The object under `error` that `jabberctl` prints, and that a failed result of `send` carries.
    public var json: JSONObject {
        JSONObject(present: [
            "code": .string(code.rawValue), "exit": .integer(Int64(exit.rawValue)), "message": .string(message),
            "retry": .bool(retry), "stanza": stanza.map(JSONValue.object), "account": account.map(JSONValue.string),
            "endpoint": endpoint.map(JSONValue.string), "phase": phase.map(JSONValue.string),
        ])
    }

    /// Reads what ``json`` wrote. Anything missing or strange becomes an internal error: it comes from another program.
    package init(json object: JSONObject) {
        self.init(
            object.string("code").map(ControlErrorCode.init(rawValue:)) ?? .internalError,
            object.string("message") ?? "the error has no message",
            stanza: object["stanza"]?.objectValue, account: object.string("account")
        )
        if let number = object.int("exit"), let exit = Int32(exactly: number), (1...255).contains(exit) {
            self.exit = ExitCode(rawValue: exit)
        }
        if let retry = object.bool("retry") { self.retry = retry }
        (endpoint, phase) = (object.string("endpoint"), object.string("phase"))
    }

    /// The error object of JSON-RPC 2.0 §5.1: a number, the message, and our object under `data`.
    var response: JSONValue {
        var data = json
        data["message"] = nil
        return ["code": .integer(code.number), "message": .string(message), "data": .object(data)]
    }

    /// Reads an error object of JSON-RPC 2.0.
    init(response value: JSONValue) {
        var object = value["data"]?.objectValue ?? [:]
        object["message"] = value["message"] ?? object["message"]
        self.init(json: object)
    }
}
