// SPDX-License-Identifier: Apache-2.0

/// What kind of value an option or an argument takes.
package enum ValueKind: Hashable, Sendable {
    /// Any text.
    case text
    /// An address, checked by the daemon.
    case jid
    /// A path.
    case file
    /// A whole number in a range.
    case whole(ClosedRange<Int>)
    /// Seconds, more than zero, with a fraction if need be.
    case seconds
    /// One of some words.
    case choice([String])
    /// Some of some words, with commas between them.
    case choices([String])
    /// Words with commas between them.
    case list

    /// The type of the parameter on the control socket.
    package var jsonType: String {
        switch self {
        case .text, .jid, .file, .choice: "string"
        case .whole: "integer"
        case .seconds: "number"
        case .choices, .list: "array of strings"
        }
    }

    /// The words to choose from, if there are any.
    package var words: [String] {
        switch self {
        case .choice(let words), .choices(let words): words
        default: []
        }
    }
}

/// One option of a command.
package struct OptionSpec: Hashable, Sendable {
    /// The name after `--`.
    package let long: String
    /// The letter after `-`.
    package let short: Character?
    /// What its value is called in help; `nil` for a flag.
    package let valueName: String?
    /// The kind of its value; of no meaning for a flag.
    package let kind: ValueKind
    /// One line of help.
    package let summary: String
    /// What holds when it is not given, for help.
    package let defaultText: String?
    /// The environment variable that stands in for it.
    package let environment: String?
    /// Whether it may be given several times.
    package let isRepeatable: Bool
    /// Whether it becomes a parameter of the method; otherwise it is for the tool alone.
    package let isParameter: Bool

    /// An option whose value is any text.
    package static func value(
        _ long: String, _ short: Character?, _ valueName: String, _ summary: String,
        default defaultText: String? = nil, environment: String? = nil, isRepeatable: Bool = false,
        isParameter: Bool = true
    ) -> OptionSpec {
        value(
            long, short, valueName, .text, summary, default: defaultText, environment: environment,
            isRepeatable: isRepeatable, isParameter: isParameter)
    }

    /// An option with a value of some kind.
    package static func value(
        _ long: String, _ short: Character?, _ valueName: String, _ kind: ValueKind, _ summary: String,
        default defaultText: String? = nil, environment: String? = nil, isRepeatable: Bool = false,
        isParameter: Bool = true
    ) -> OptionSpec {
        OptionSpec(
            long: long, short: short, valueName: valueName, kind: kind, summary: summary, defaultText: defaultText,
            environment: environment, isRepeatable: isRepeatable, isParameter: isParameter)
    }

    /// An option without a value.
    package static func flag(
        _ long: String, _ short: Character?, _ summary: String, isRepeatable: Bool = false,
        isParameter: Bool = true
    ) -> OptionSpec {
        OptionSpec(
            long: long, short: short, valueName: nil, kind: .text, summary: summary, defaultText: nil,
            environment: nil, isRepeatable: isRepeatable, isParameter: isParameter)
    }

    /// Whether it takes no value.
    package var isFlag: Bool {
        valueName == nil
    }

    /// The name as a parameter: `exit-code` becomes `exitCode`.
    package var parameterName: String {
        CommandSpec.camelCase(long)
    }

    /// The type of the parameter on the control socket.
    package var jsonType: String {
        isFlag ? "boolean" : isRepeatable ? "array of strings" : kind.jsonType
    }
}

/// One argument without a dash.
package struct ArgumentSpec: Hashable, Sendable {
    /// What it is called in help, in capitals; in lower case the parameter's name.
    package let name: String
    /// The kind of value.
    package let kind: ValueKind
    /// Whether it may be left out.
    package let isOptional: Bool
    /// Whether there may be several; only the last argument.
    package let isRepeatable: Bool
    /// One line of help.
    package let summary: String

    /// Makes an argument of any text.
    package init(_ name: String, optional: Bool = false, repeatable: Bool = false, _ summary: String) {
        self.init(name, .text, optional: optional, repeatable: repeatable, summary)
    }

    /// Makes an argument of some kind.
    package init(
        _ name: String, _ kind: ValueKind, optional: Bool = false, repeatable: Bool = false, _ summary: String
    ) {
        self.name = name
        self.kind = kind
        isOptional = optional
        isRepeatable = repeatable
        self.summary = summary
    }

    /// The name as a parameter.
    package var parameterName: String {
        CommandSpec.camelCase(name.lowercased())
    }

    /// How it stands in a usage line: `JID`, `[JID]`, `JID...`.
    package var usage: String {
        let text = isRepeatable ? name + "..." : name
        return isOptional ? "[\(text)]" : text
    }
}

/// One field of a result, an event or the parameters.
package struct FieldSpec: Hashable, Sendable {
    /// The path of keys: `contacts[].jid`.
    package let name: String
    /// The JSON type: `string`, `integer`, `boolean`, `time` (RFC 3339 in UTC with milliseconds), `array`, `object`.
    package let type: String
    /// What it says.
    package let summary: String

    /// Makes a field.
    package init(_ name: String, _ type: String, _ summary: String) {
        self.name = name
        self.type = type
        self.summary = summary
    }
}
