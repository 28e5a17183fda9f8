// SPDX-License-Identifier: Apache-2.0

package import JabberControl

/// What the words of the command line mean, by the table of commands.
package struct CommandLine: Hashable, Sendable {
    /// The command; `nil` for help about everything or about a group.
    package private(set) var command: CommandSpec?
    /// The words of the command as far as they were given: `["roster"]` when the second is missing.
    package private(set) var path: [String] = []
    /// The words that are no options.
    package private(set) var arguments: [String] = []
    /// The values of each option by its long name; of a flag, one empty value for each time it was given.
    package private(set) var options: [String: [String]] = [:]
    /// The options that the environment stands in for.
    private var fromEnvironment: Set<String> = []

    /// Understands the words.
    ///
    /// - Parameters:
    ///   - words: The words after the program's name.
    ///   - variables: The environment, whose `JABBERCTL_…` stand in for options that are not given.
    /// - Throws: `ControlError` with ``ControlErrorCode/usage``.
    package init(_ words: [String], variables: [String: String]) throws(ControlError) {
        // What most programs understand.
        var rest = words == ["--version"] ? ["version"] : words[...]
        while let word = rest.popFirst() {
            if word == "--" {
                for word in rest { try take(argument: word) }
                break
            } else if word.hasPrefix("--") {
                try take(long: word.dropFirst(2), &rest)
            } else if word.hasPrefix("-") && word != "-" {
                try take(letters: word.dropFirst(), &rest)
            } else {
                try take(argument: word)
            }
        }
        try fillIn(from: variables)
        if !isHelp { try checkArguments() }
    }

    /// Whether `--help` was given.
    package var isHelp: Bool {
        has("help")
    }

    /// Whether an option was given.
    package func has(_ option: String) -> Bool {
        options[option] != nil
    }

    /// Whether an option was given by word, and not by the environment.
    package func isTyped(_ option: String) -> Bool {
        has(option) && !fromEnvironment.contains(option)
    }

    /// The value of an option; the last when it was given several times.
    package func value(_ option: String) -> String? {
        options[option]?.last
    }

    /// The whole number of an option; its range was checked.
    package func int(_ option: String) -> Int? {
        value(option).flatMap { Int($0) }
    }

    // MARK: Words

    private mutating func take(argument word: String) throws(ControlError) {
        guard command == nil else { return arguments.append(word) }
        path.append(word)
        command = MethodTable.command(path)
        guard command == nil, !MethodTable.commands.contains(where: { $0.path.starts(with: path) }) else { return }
        throw Self.unknown(path)
    }

    private static func unknown(_ path: [String]) -> ControlError {
        let group = Array(path.dropLast())
        let word = path.last ?? ""
        let siblings = MethodTable.commands.filter { $0.path.starts(with: group) }
        let words = siblings.flatMap { command in
            [command.path[group.count]] + (group.isEmpty ? command.aliases : [])
        }
        let name = path.joined(separator: " ")
        guard let similar = Suggestion.closest(to: word, among: words) else {
            let help = group.isEmpty ? "jabberctl help" : "jabberctl help \(group.joined(separator: " "))"
            return ControlError(.usage, "there is no command \"\(name)\"; see: \(help)")
        }
        let proposal = (group + [similar]).joined(separator: " ")
        return ControlError(.usage, "there is no command \"\(name)\"; did you mean \"\(proposal)\"?")
    }

    // MARK: Options

    private var known: [OptionSpec] {
        (command?.options ?? []) + MethodTable.globalOptions
    }

    private mutating func take(long text: Substring, _ rest: inout ArraySlice<String>) throws(ControlError) {
        let parts = text.unicodeScalars.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts.first.map { String($0) } ?? ""
        guard let option = known.first(where: { $0.long == name }) else {
            let place = command.map { "\"jabberctl \($0.name)\" has no option" } ?? "there is no option"
            let similar = Suggestion.closest(to: name, among: known.map(\.long))
            let hint = similar.map { "; did you mean \"--\($0)\"?" } ?? ""
            throw ControlError(.usage, "\(place) \"--\(name)\"\(hint)")
        }
        if option.isFlag {
            guard parts.count == 1 else { throw ControlError(.usage, "--\(name) takes no value") }
            set(option, "")
        } else if parts.count == 2 {
            try set(option, checked: String(parts[1]))
        } else {
            try set(option, checked: try Self.next(&rest, for: "--\(name)"))
        }
    }

    private mutating func take(letters: Substring, _ rest: inout ArraySlice<String>) throws(ControlError) {
        var letters = letters
        while let letter = letters.popFirst() {
            guard let option = known.first(where: { $0.short == letter }) else {
                throw ControlError(.usage, "there is no option \"-\(letter)\"")
            }
            if option.isFlag {
                set(option, "")
            } else {
                let attached = letters.hasPrefix("=") ? letters.dropFirst() : letters
                let value = letters.isEmpty ? try Self.next(&rest, for: "-\(letter)") : String(attached)
                return try set(option, checked: value)
            }
        }
    }

    private static func next(_ rest: inout ArraySlice<String>, for option: String) throws(ControlError) -> String {
        guard let value = rest.popFirst() else { throw ControlError(.usage, "\(option) needs a value") }
        return value
    }

    private mutating func set(_ option: OptionSpec, checked value: String) throws(ControlError) {
        try ValueCheck.check(value, option.kind, of: "--\(option.long)")
        set(option, value)
    }

    private mutating func set(_ option: OptionSpec, _ value: String) {
        switch option.long {
        // Of two that contradict each other the last one counts.
        case "json": options["output"] = ["json"]
        case "ask": options["no-ask"] = nil
        case "no-ask": options["ask"] = nil
        default: break
        }
        options[option.long] = option.isRepeatable ? (options[option.long] ?? []) + [value] : [value]
    }

    private mutating func fillIn(from variables: [String: String]) throws(ControlError) {
        for option in MethodTable.globalOptions where !has(option.long) {
            guard let name = option.environment, let value = variables[name], !value.isEmpty else { continue }
            try ValueCheck.check(value, option.kind, of: name)
            options[option.long] = [value]
            fromEnvironment.insert(option.long)
        }
    }

    private func checkArguments() throws(ControlError) {
        guard let command else {
            guard path.isEmpty else {
                let words = MethodTable.commands.filter { $0.path.starts(with: path) }.map { $0.path[path.count] }
                throw ControlError(
                    .usage, "\"\(path.joined(separator: " "))\" needs one more word: \(words.joined(separator: ", "))")
            }
            return
        }
        let least = command.arguments.count { !$0.isOptional }
        guard arguments.count >= least else {
            let missing = command.arguments[min(arguments.count, command.arguments.count - 1)]
            throw ControlError(.usage, "\(missing.name) is missing; usage: \(command.usage)")
        }
        guard arguments.count <= command.arguments.count || command.arguments.contains(where: \.isRepeatable) else {
            let extra = TerminalText.line(arguments[command.arguments.count])
            throw ControlError(.usage, "\"\(extra)\" is one argument too many; usage: \(command.usage)")
        }
        for (argument, value) in zip(command.arguments, arguments) {
            try ValueCheck.check(value, argument.kind, of: argument.name)
        }
    }
}

/// Checks the values of options and arguments.
enum ValueCheck {
    /// Checks a value that stands for an option, a variable or an argument.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/usage``.
    static func check(_ value: String, _ kind: ValueKind, of name: String) throws(ControlError) {
        switch kind {
        case .text, .jid, .list:
            return
        case .file:
            guard value.isEmpty else { return }
            throw ControlError(.usage, "\(name) needs a path")
        case .whole(let range):
            guard let number = Int(value), range.contains(number) else {
                throw ControlError(
                    .usage, "\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound)")
            }
        case .seconds:
            guard let seconds = Double(value), seconds > 0, seconds <= 1_000_000 else {
                throw ControlError(.usage, "\(name) must be a number of seconds above 0")
            }
        case .choice(let words):
            guard words.contains(value) else { throw wrongWord(value, words, name) }
        case .choices(let words):
            for word in value.split(separator: ",", omittingEmptySubsequences: false)
            where !words.contains(String(word)) {
                throw wrongWord(String(word), words, name)
            }
        }
    }

    private static func wrongWord(_ word: String, _ words: [String], _ name: String) -> ControlError {
        let hint = Suggestion.closest(to: word, among: words).map { "; did you mean \"\($0)\"?" } ?? ""
        return ControlError(.usage, "\(name) must be one of \(words.joined(separator: ", "))\(hint)")
    }
}
