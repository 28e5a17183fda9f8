// SPDX-License-Identifier: Apache-2.0

internal import JabberControl

/// Completion scripts of the shells, made of the table of commands.
enum Completion {
    /// The script of a shell.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/usage`` for another shell.
    static func script(for shell: String) throws(ControlError) -> String {
        switch shell {
        case "bash": return bash()
        case "zsh": return zsh()
        case "fish": return fish()
        default: throw ControlError(.usage, "no completion for \(TerminalText.line(shell))")
        }
    }

    /// The words that may follow some words of a command.
    private static var levels: [(path: [String], words: [String])] {
        var levels: [(path: [String], words: [String])] = [([], [])]
        func add(_ word: String, below path: [String]) {
            if let index = levels.firstIndex(where: { $0.path == path }) {
                if !levels[index].words.contains(word) { levels[index].words.append(word) }
            } else {
                levels.append((path, [word]))
            }
        }
        for command in MethodTable.commands {
            for index in command.path.indices { add(command.path[index], below: Array(command.path[..<index])) }
            for alias in command.aliases { add(alias, below: []) }
            for paths in [command.path] + command.aliases.map({ [$0] }) {
                for option in command.options { add("--" + option.long, below: paths) }
                for word in command.arguments.first?.kind.words ?? [] { add(word, below: paths) }
            }
        }
        return levels
    }

    private static var allOptions: [OptionSpec] {
        var options = MethodTable.globalOptions
        for option in MethodTable.commands.flatMap(\.options) where !options.contains(where: { $0.long == option.long })
        {
            options.append(option)
        }
        return options
    }

    private static func names(_ option: OptionSpec) -> [String] {
        ["--" + option.long] + (option.short.map { ["-\($0)"] } ?? [])
    }

    private static var globals: String {
        MethodTable.globalOptions.map { "--" + $0.long }.joined(separator: " ")
    }

    /// The body that bash and zsh share: finds the words of the command, then the candidates in `words`.
    private static func search(files: String) -> [String] {
        let valued = allOptions.filter { !$0.isFlag }.flatMap(names).joined(separator: "|")
        let commands = Set(
            MethodTable.commands.flatMap { command in
                command.path.indices.map { command.path[...$0].joined(separator: " ") } + command.aliases
            }
        ).sorted()
        var lines = [
            "    for word in \"${before[@]}\"; do",
            "        if [[ -n $skip ]]; then skip=; continue; fi",
            "        case $word in",
            "            \(valued)) skip=1 ;;",
            "            -*) ;;",
            "            *)",
            "                case \"${command:+$command }$word\" in",
            "                    \(commands.map { "'\($0)'" }.joined(separator: "|"))) command=\"${command:+$command }$word\" ;;",
            "                esac ;;",
            "        esac",
            "    done",
            "    case $previous in",
        ]
        for option in allOptions where !option.kind.words.isEmpty && !option.isFlag {
            lines.append(
                "        \(names(option).joined(separator: "|"))) words='\(option.kind.words.joined(separator: " "))' ;;"
            )
        }
        let paths = allOptions.filter { $0.kind == .file && !$0.isFlag }.flatMap(names)
        lines.append("        \(paths.joined(separator: "|"))) \(files); return ;;")
        lines.append("        \(valued)) return ;;")
        lines += ["        *)", "            case $command in"]
        for level in levels {
            lines.append(
                "                '\(level.path.joined(separator: " "))') words='\(level.words.joined(separator: " "))' ;;"
            )
        }
        lines += ["            esac", "            [[ $current == -* ]] && words+=' \(globals)' ;;", "    esac"]
        return lines
    }

    private static func bash() -> String {
        let lines =
            [
                "# bash completion for jabberctl", "# SPDX-License-Identifier: Apache-2.0", "_jabberctl() {",
                "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}",
                "    local command= skip= word words=",
                "    local before=(\"${COMP_WORDS[@]:1:COMP_CWORD-1}\")",
            ] + search(files: "COMPREPLY=($(compgen -f -- \"$current\"))") + [
                "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))", "}",
                "complete -o filenames -F _jabberctl jabberctl",
            ]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func zsh() -> String {
        // `words` and `CURRENT` are zsh's own; the list of candidates is copied into an array of its own at the end.
        let lines =
            [
                "#compdef jabberctl", "# SPDX-License-Identifier: Apache-2.0", "_jabberctl() {",
                "    local -a before candidates", "    local current=${words[CURRENT]} previous=${words[CURRENT-1]}",
                "    before=(\"${(@)words[2,CURRENT-1]}\")", "    local command= skip= word words=",
            ] + search(files: "_files") + [
                "    candidates=(${=words})", "    compadd -- $candidates", "}", "_jabberctl \"$@\"",
            ]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func fish() -> String {
        var lines = [
            "# fish completion for jabberctl", "# SPDX-License-Identifier: Apache-2.0", "complete -c jabberctl -f",
        ]
        for option in MethodTable.globalOptions { lines.append("complete -c jabberctl" + fish(option)) }
        let starts = Set(MethodTable.commands.map { $0.path[0] } + MethodTable.commands.flatMap(\.aliases)).sorted()
        lines.append("set -l starts \(starts.joined(separator: " "))")
        for command in MethodTable.commands {
            let seen = "__fish_seen_subcommand_from"
            for (index, word) in command.path.enumerated() {
                let isLast = index == command.path.count - 1
                let about = isLast ? " -d '\(quoted(command.summary))'" : ""
                let condition =
                    index == 0 ? "not \(seen) $starts" : "\(seen) \(command.path[index - 1]); and not \(seen) \(word)"
                lines.append("complete -c jabberctl -n \"\(condition)\" -a \(word)\(about)")
            }
            let condition = command.path.map { "\(seen) \($0)" }.joined(separator: "; and ")
            for option in command.options { lines.append("complete -c jabberctl -n \"\(condition)\"" + fish(option)) }
            if let words = command.arguments.first?.kind.words, !words.isEmpty {
                lines.append("complete -c jabberctl -n \"\(condition)\" -a '\(words.joined(separator: " "))'")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func fish(_ option: OptionSpec) -> String {
        let short = option.short.map { " -s \($0)" } ?? ""
        let value =
            option.isFlag
            ? ""
            : option.kind == .file
                ? " -r -F"
                : " -x" + (option.kind.words.isEmpty ? "" : " -a '\(option.kind.words.joined(separator: " "))'")
        return " -l \(option.long)\(short)\(value) -d '\(quoted(option.summary))'"
    }

    private static func quoted(_ text: String) -> String {
        text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "\\'")
    }
}
