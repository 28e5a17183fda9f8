// SPDX-License-Identifier: Apache-2.0

internal import JabberControl

/// What a command works with: its words, the options, and where output goes.
struct CommandContext: Sendable {
    let environment: CLIEnvironment
    let line: CommandLine
    private(set) var options: GlobalOptions
    let output: Output
    /// The time limit that was asked for; it runs since the context was made.
    let deadline: Deadline?

    /// - Parameter isWaiting: Whether the command waits for anything, so that a time limit has a meaning.
    init(_ line: CommandLine, _ environment: CLIEnvironment, isWaiting: Bool = false) throws(ControlError) {
        self.environment = environment
        self.line = line
        options = try GlobalOptions(line, environment)
        output = Output(environment: environment, options: options)
        try Self.checkFields(line, options)
        deadline = isWaiting ? options.timeout.map { Deadline(seconds: $0, environment) } : nil
    }

    /// Refuses fields that the command does not have, before anything is done.
    private static func checkFields(_ line: CommandLine, _ options: GlobalOptions) throws(ControlError) {
        guard let command = line.command, options.field != nil || options.fields != nil else { return }
        let isDocument = options.form == .json && options.field == nil
        let isByResource = command.method == "online" && line.has("resources") && !isDocument
        let fields =
            isByResource ? MethodTable.resourceRecord : isDocument ? command.documentFields : command.recordFields
        if let field = options.field { try command.check([field], in: fields) }
        if let names = options.fields { try command.check(names, in: fields) }
    }

    /// The first line of what an open descriptor has: a secret that the user hands over.
    func firstLine(of descriptor: Int32) throws(ControlError) -> String {
        try PasswordSource.firstLine(try environment.readDescriptor(descriptor), of: "descriptor \(descriptor)")
    }

    /// The same for an account of the settings.
    func with(account name: String) -> CommandContext {
        var copy = self
        copy.options.session.account = name
        copy.options.session.jid = nil
        return copy
    }

    /// The time limit of a command that answers once.
    var limit: Double {
        options.timeout ?? 30
    }

    /// The parameters of the method, from the options and arguments of the table.
    func parameters(of command: CommandSpec) -> JSONObject {
        var params: JSONObject = [:]
        for (index, argument) in command.arguments.enumerated() where index < line.arguments.count {
            params[argument.parameterName] =
                argument.isRepeatable
                ? .strings(line.arguments[index...]) : value(line.arguments[index], argument.kind)
        }
        for option in command.options where option.isParameter {
            guard let values = line.options[option.long], let last = values.last else { continue }
            params[option.parameterName] =
                option.isFlag ? true : option.isRepeatable ? .strings(values) : value(last, option.kind)
        }
        return params
    }

    private func value(_ text: String, _ kind: ValueKind) -> JSONValue {
        switch kind {
        case .text, .jid, .choice: .string(text)
        case .file: .string(environment.absolute(text))
        case .whole: Int64(text).map(JSONValue.integer) ?? .null
        case .seconds: Double(text).map(JSONValue.number) ?? .null
        case .choices, .list: .strings(text.split(separator: ",").map(String.init))
        }
    }

    /// Parameters with what belongs to every request.
    func complete(_ params: JSONObject, withTimeout: Bool) -> JSONObject {
        var params = params
        if withTimeout { params["timeout"] = .number(limit) }
        let session = options.session.json
        if !session.isEmpty { params["session"] = .object(session) }
        return params
    }

    /// With `--dry-run`, shows the request instead of making it.
    ///
    /// - Returns: Whether that was done.
    func showRequest(_ method: String, _ params: JSONObject) throws(ControlError) -> Bool {
        guard options.isDryRun else { return false }
        let request: JSONValue = ["method": .string(method), "params": .object(complete(params, withTimeout: false))]
        try output.write(json: request)
        return true
    }

    /// Makes one request and gives its result as an object.
    func request(_ method: String, _ params: JSONObject) async throws(ControlError) -> JSONObject {
        try await DaemonSession.run(self, limit: limit) { session throws(ControlError) in
            try Self.object(try await session.call(method, params))
        }
    }

    /// A result as the object that it must be.
    static func object(_ value: JSONValue) throws(ControlError) -> JSONObject {
        guard let object = value.objectValue else {
            throw ControlError(.internalError, "the daemon's answer is no object")
        }
        return object
    }
}
