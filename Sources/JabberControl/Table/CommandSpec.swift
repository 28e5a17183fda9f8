// SPDX-License-Identifier: Apache-2.0

/// One command of `jabberctl`, which is one method of the control protocol unless the tool does it alone.
package struct CommandSpec: Hashable, Sendable, CustomStringConvertible {
    /// Who does the work.
    package enum Place: Hashable, Sendable {
        /// The daemon: a method of the same name.
        case daemon
        /// The daemon, with events until the caller cancels the request.
        case daemonStream
        /// The tool alone.
        case tool
        /// The daemon, with whatever is asked of it: the tool passes it on.
        case bridge
    }

    /// Under which heading help lists it.
    package enum Group: String, Hashable, Sendable, CaseIterable {
        /// What is used every day.
        case everyday = "Everyday"
        /// Presence and contacts.
        case contacts = "Presence and contacts"
        /// Rooms for many.
        case rooms = "Rooms"
        /// Accounts and the rest.
        case accounts = "Accounts and settings"
        /// The daemon that stays, and its connections.
        case daemon = "Daemon"
        /// Looking into things.
        case tools = "Tools"
    }

    /// The words of the command: `["roster", "add"]`.
    package let path: [String]
    /// Other words for the same.
    package var aliases: [String] = []
    /// The heading of help.
    package let group: Group
    /// One line of help.
    package let summary: String
    /// Paragraphs of help.
    package var details: [String] = []
    /// The arguments without dashes.
    package var arguments: [ArgumentSpec] = []
    /// The command's own options.
    package var options: [OptionSpec] = []
    /// Parameters of the method that are neither options nor arguments.
    package var parameters: [FieldSpec] = []
    /// The fields of the result.
    package var result: [FieldSpec] = []
    /// The fields of an event, for a stream.
    package var event: [FieldSpec] = []
    /// The key of the result below which the records of the output stand; `nil` when the result is the only record.
    package var recordKey: String?
    /// The fields of a record, where the tool makes records of its own.
    package var ownRecord: [FieldSpec] = []
    /// Who does the work.
    package var place: Place = .daemon
    /// Whether the password that is given is a new one, and not the session's.
    package var takesNewPassword = false
    /// Whether it is about the daemon that runs: no private one is started for it.
    package var needsRunningDaemon = false
    /// The exit codes beyond those that every command has.
    package var exits: [ExitCode] = []
    /// Examples for the manual.
    package var examples: [String] = []

    /// Makes a command of one word or of two with a blank between them; what it has is set afterwards.
    package init(_ path: String, _ group: Group, _ summary: String) {
        self.path = Self.words(path)
        self.group = group
        self.summary = summary
    }

    private static func words(_ path: String) -> [String] {
        guard let blank = path.utf8.firstIndex(of: UInt8(ascii: " ")) else { return [path] }
        return [String(path[..<blank]), String(path[path.utf8.index(after: blank)...])]
    }

    /// The command as it is typed: `roster add`.
    package var name: String {
        path.joined(separator: " ")
    }

    /// The command as it is typed.
    package var description: String {
        name
    }

    /// The method of the control protocol: `roster.add`.
    package var method: String {
        path.joined(separator: ".")
    }

    /// Whether it is a method of the control protocol.
    package var isMethod: Bool {
        place == .daemon || place == .daemonStream
    }

    /// The arguments as a usage line shows them.
    package var usage: String {
        let options = options.isEmpty ? [] : ["[OPTIONS]"]
        return (["jabberctl"] + path + options + arguments.map(\.usage)).joined(separator: " ")
    }

    /// Every parameter of the method: arguments, options, the others, and `session`.
    package var allParameters: [FieldSpec] {
        guard isMethod else { return [] }
        var fields = arguments.map { argument in
            FieldSpec(
                argument.parameterName, argument.isRepeatable ? "array of strings" : argument.kind.jsonType,
                argument.summary)
        }
        for option in options where option.isParameter {
            fields.append(FieldSpec(option.parameterName, option.jsonType, option.summary))
        }
        let named = Set(parameters.map(\.name))
        fields.removeAll { named.contains($0.name) }
        fields += parameters
        fields.append(
            FieldSpec(
                "session", "object",
                "which session: account, jid, host, port, tls, proxy, hostMeta, ca, trust, pin, config"))
        if place == .daemon {
            fields.append(FieldSpec("timeout", "number", "seconds after which the caller no longer waits"))
        }
        return fields
    }

    /// `exit-code` becomes `exitCode`.
    package static func camelCase(_ name: String) -> String {
        let words = name.split(separator: "-")
        return words.enumerated().map { index, word in
            index == 0 ? String(word) : word.prefix(1).uppercased() + word.dropFirst()
        }.joined()
    }
}
