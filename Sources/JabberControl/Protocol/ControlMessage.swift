// SPDX-License-Identifier: Apache-2.0

/// What a request is known by: the caller chooses, the answer repeats it (JSON-RPC 2.0 §4).
package enum ControlID: Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// A whole number.
    case number(Int64)
    /// A string.
    case string(String)

    /// A whole number.
    package init(integerLiteral value: Int64) {
        self = .number(value)
    }

    /// The value on the wire.
    package var json: JSONValue {
        switch self {
        case .number(let number): .integer(number)
        case .string(let string): .string(string)
        }
    }

    /// Reads a whole number or a string; `nil` for anything else.
    package init?(json value: JSONValue?) {
        switch value {
        case .integer(let number): self = .number(number)
        case .string(let string): self = .string(string)
        default: return nil
        }
    }
}

/// A call that wants an answer.
package struct ControlRequest: Hashable, Sendable {
    /// What the answer is known by.
    package var id: ControlID
    /// The command's name, such as `roster.add`.
    package var method: String
    /// The parameters by name.
    package var params: JSONObject

    /// Makes a request.
    package init(id: ControlID, method: String, params: JSONObject = [:]) {
        self.id = id
        self.method = method
        self.params = params
    }
}

/// A message that wants no answer: `hello`, `event`, `goodbye` from the daemon, `cancel` from the client.
package struct ControlNotification: Hashable, Sendable {
    /// The kind of notification.
    package var method: String
    /// The parameters by name.
    package var params: JSONObject

    /// Makes a notification.
    package init(method: String, params: JSONObject = [:]) {
        self.method = method
        self.params = params
    }

    /// An event of a running request: `{"request": id, "event": …}`.
    package static func event(_ event: JSONValue, of request: ControlID) -> ControlNotification {
        ControlNotification(method: "event", params: ["request": request.json, "event": event])
    }

    /// Asks the daemon to end a running request.
    package static func cancel(_ request: ControlID) -> ControlNotification {
        ControlNotification(method: "cancel", params: ["request": request.json])
    }

    /// The last thing a side says before it closes, and why.
    package static func goodbye(_ error: ControlError) -> ControlNotification {
        ControlNotification(method: "goodbye", params: ["error": .object(error.json)])
    }
}

/// The answer to a request.
package struct ControlResponse: Hashable, Sendable {
    /// Which request; `nil` when the request could not be read.
    package var id: ControlID?
    /// What came out.
    package var result: Result<JSONValue, ControlError>

    /// Makes an answer.
    package init(id: ControlID?, result: Result<JSONValue, ControlError>) {
        self.id = id
        self.result = result
    }
}

/// One line of the control protocol (JSON-RPC 2.0).
package enum ControlMessage: Hashable, Sendable {
    /// A call that wants an answer.
    case request(ControlRequest)
    /// A message that wants none.
    case notification(ControlNotification)
    /// An answer.
    case response(ControlResponse)
}

/// What the daemon says first: who it is and which output versions it speaks.
public struct ControlGreeting: Hashable, Sendable {
    /// The program, `jabberctld`.
    public var product: String
    /// Its version.
    public var version: String
    /// The output versions that it can produce.
    public var api: ClosedRange<Int>
    /// Which run of the daemon this is: a client that connects again sees whether it is the same.
    public var instance: String

    /// Makes a greeting of this build.
    package init(
        product: String = "jabberctld", version: String = ProductVersion.current,
        api: ClosedRange<Int> = ProductVersion.api, instance: String
    ) {
        self.product = product
        self.version = version
        self.api = api
        self.instance = instance
    }

    /// Refuses a daemon that speaks no output version that this program does.
    ///
    /// - Parameter program: How this program is called in the message.
    /// - Throws: `ControlError` with ``ControlErrorCode/apiTooOld`` or ``ControlErrorCode/apiTooNew``.
    package func check(for program: String = "this program") throws(ControlError) {
        let spoken = ProductVersion.api
        guard api.lowerBound <= spoken.upperBound else {
            throw ControlError(.apiTooOld, "the daemon (\(version)) is newer than \(program)")
        }
        guard api.upperBound >= spoken.lowerBound else {
            throw ControlError(.apiTooNew, "the daemon (\(version)) is older than \(program)")
        }
    }

    /// The notification `hello`.
    package var notification: ControlNotification {
        ControlNotification(
            method: "hello",
            params: [
                "product": .string(product), "version": .string(version),
                "api": ["min": .integer(Int64(api.lowerBound)), "max": .integer(Int64(api.upperBound))],
                "instance": .string(instance),
            ])
    }

    /// Reads the notification `hello`; `nil` when it is something else.
    package init?(_ notification: ControlNotification) {
        let params = notification.params
        guard notification.method == "hello", let product = params.string("product"),
            let version = params.string("version"), let instance = params.string("instance"),
            let low = params["api"]?["min"]?.intValue, let high = params["api"]?["max"]?.intValue, low <= high
        else { return nil }
        self.init(product: product, version: version, api: low...high, instance: instance)
    }
}

/// The version of these programs.
package enum ProductVersion {
    /// The version of this build.
    package static let current = "0.1.0"
    /// The output versions that this build produces and understands.
    package static let api = 1...1
}
