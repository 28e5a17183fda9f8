// SPDX-License-Identifier: Apache-2.0

internal import JabberControl

/// The answers to a server's questions so far: lines `NAME=VALUE`.
struct RegistrationAnswers {
    /// The lines, as the daemon takes them.
    private(set) var lines: [String]

    init(_ lines: [String]) {
        self.lines = lines
    }

    /// Refuses a password among the options, where other programs can see it.
    static func refuseSecrets(_ lines: [String]) throws(ControlError) {
        for line in lines {
            guard let sign = line.unicodeScalars.firstIndex(of: "="), sign > line.startIndex else {
                throw ControlError(.usage, "--field takes NAME=VALUE")
            }
            guard !Self.isValue(line, of: "password") else {
                throw ControlError(.usage, "--field password=… can be seen by other programs; use --password-fd")
            }
        }
    }

    /// The value of a field; `nil` where there is none. A new one takes the place of all the old.
    subscript(name: String) -> String? {
        get {
            lines.first { Self.isValue($0, of: name) }.map {
                String($0.unicodeScalars.dropFirst(name.unicodeScalars.count + 1))
            }
        }
        set {
            lines.removeAll { Self.isValue($0, of: name) }
            if let newValue { lines.append("\(name)=\(newValue)") }
        }
    }

    /// Whether a line is one of a field. By its bytes: a value may begin with an accent, which makes another
    /// `Character` of the sign before it.
    private static func isValue(_ line: String, of name: String) -> Bool {
        line.utf8.starts(with: "\(name)=".utf8)
    }

    /// Forgets what the server did not take, so that it is asked again.
    ///
    /// - Returns: Whether there is anything to ask again.
    mutating func forget(after error: ControlError) -> Bool {
        switch error.stanza?.string("condition") {
        case "conflict":
            guard self["username"] != nil else { return false }
            self["username"] = nil
            return true
        case "not-acceptable", "not-allowed", "bad-request":
            // A riddle that was not solved, or something that only the server knows to be wrong.
            let hadAny = !lines.isEmpty
            lines = []
            return hadAny
        default:
            return false
        }
    }
}

/// A question of a server's form, as a person is asked it.
struct RegistrationQuestion: CustomStringConvertible {
    let name: String
    let isRequired: Bool
    private let label: String?
    private let options: [String]
    private let places: [String]
    private let isSuggested: Bool
    /// Why there is nothing to look at where there ought to be; `nil` where there is, or need not be.
    let problem: String?

    private init?(_ field: JSONValue) {
        guard let name = field["name"]?.stringValue, let type = field["type"]?.stringValue, type != "fixed" else {
            return nil
        }
        self.name = name
        isRequired = field["required"] == true
        label = field["label"]?.stringValue ?? field["text"]?.stringValue
        options = (field["options"]?.arrayValue ?? []).compactMap { $0["value"]?.stringValue }
        places = (field["media"]?.arrayValue ?? []).compactMap {
            $0["file"]?.stringValue ?? $0["uri"]?.stringValue.flatMap { $0.hasPrefix("cid:") ? nil : $0 }
        }
        let problems = (field["media"]?.arrayValue ?? []).compactMap { $0["problem"]?.stringValue }
        problem = places.isEmpty ? problems.first : nil
        isSuggested = field["values"]?.stringsValue?.isEmpty == false
    }

    /// What is to be answered by people: not the password, and not a name that is decided.
    static func all(in result: JSONObject, username: String?) -> [RegistrationQuestion] {
        (result["form"]?["fields"]?.arrayValue ?? []).compactMap(RegistrationQuestion.init).filter {
            $0.name != "password" && !($0.name == "username" && username != nil)
        }
    }

    /// Whether the form asks for a password.
    static func asksForPassword(_ result: JSONObject) -> Bool {
        (result["form"]?["fields"]?.arrayValue ?? []).contains { $0["name"]?.stringValue == "password" }
    }

    /// Whether there is something to be looked at first.
    var isRiddle: Bool { !places.isEmpty }

    /// Whether a person is asked: it has to be answered, or it is a riddle, of which some have to be.
    var isAsked: Bool { isRequired && !isSuggested || isRiddle }

    /// The name, and what people are told about it. Cleaned by who shows it.
    var description: String {
        let hints = [label, options.isEmpty ? nil : "one of " + options.joined(separator: ", ")].compactMap { $0 }
        let seen = places.isEmpty ? [] : ["look at " + places.joined(separator: " or ")]
        let all = hints + seen
        return all.isEmpty ? name : "\(name) (\(all.joined(separator: "; ")))"
    }

    /// What is written before the answer, safe for a terminal.
    var prompt: String { TerminalText.line(description) + ": " }
}
