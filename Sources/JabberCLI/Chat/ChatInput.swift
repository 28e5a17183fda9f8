// SPDX-License-Identifier: Apache-2.0

/// What a person has typed in a chat.
enum ChatInput: Hashable, Sendable {
    /// Something to say; `/me` with it (XEP-0245).
    case text(String)
    /// The last message of the own ones is to read so (XEP-0308).
    case correct(String)
    /// The last message of the own ones is to be removed (XEP-0424).
    case retract
    /// Reactions to the last message of the others (XEP-0444); none take them back.
    case react([String])
    /// Who is there.
    case who
    /// Another nickname.
    case nick(String)
    /// What the room is about: shown, or set.
    case topic(String?)
    case help
    case quit
    case nothing
    /// What cannot be done, and why.
    case wrong(String)

    /// The commands, and what help says of them; those of rooms apart.
    static let commands: [(name: String, words: String, summary: String, isForRooms: Bool)] = [
        ("correct", "TEXT", "let your last message read so", false),
        ("help", "", "show this", false),
        ("me", "TEXT", "say what you do: /me waves", false),
        ("nick", "NAME", "take another nickname", true),
        ("quit", "", "leave; Ctrl-D does so too", false),
        ("react", "[EMOJI…]", "react to the last message of the others", false),
        ("retract", "", "ask for your last message to be removed", false),
        ("topic", "[TEXT]", "show or set what the room is about", true),
        ("who", "", "show who is there", false),
    ]

    /// Reads a line. One that begins with two slashes says what follows the first.
    init(_ line: String, isRoom: Bool) {
        let text = line.trimmed
        guard text.hasPrefix("/"), !text.hasPrefix("//"), !text.hasPrefix("/me ") else {
            self = text.isEmpty ? .nothing : .text(text.hasPrefix("//") ? String(text.dropFirst()) : text)
            return
        }
        let name = text.dropFirst().prefix { !$0.isWhitespace }
        let rest = String(text.dropFirst(1 + name.count)).trimmed
        guard let command = Self.commands.first(where: { $0.name == name }), isRoom || !command.isForRooms else {
            self = .wrong("there is no command /\(name) here; see /help. To say that, begin with //")
            return
        }
        self = Self.read(command.name, rest)
    }

    private static func read(_ name: String, _ rest: String) -> ChatInput {
        switch name {
        case "help": .help
        case "quit": .quit
        case "who": .who
        case "retract": .retract
        case "react": .react(rest.split(whereSeparator: \.isWhitespace).map(String.init))
        case "topic": .topic(rest.isEmpty ? nil : rest)
        case "nick": rest.isEmpty ? .wrong("say which: /nick NAME") : .nick(rest)
        case "correct": rest.isEmpty ? .wrong("say how: /correct TEXT") : .correct(rest)
        default: .wrong("say what you do: /me TEXT")
        }
    }

    /// What `/help` shows.
    static func help(isRoom: Bool) -> [String] {
        let rows = commands.filter { isRoom || !$0.isForRooms }.map { command in
            let words = "/\(command.name) \(command.words)"
            return words + String(repeating: " ", count: max(1, 18 - words.count)) + command.summary
        }
        let marks =
            isRoom
            ? "Behind the room's name: how many are in it; · on its way, ✓ said there."
            : "Behind the name: · on its way, ✓ the server has it, ✓✓ received, in green: read."
        return rows + ["//TEXT            say a text that begins with a slash", marks]
    }
}

extension String {
    /// The text without white space around it.
    var trimmed: String {
        guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(self[first...last])
    }
}
