// SPDX-License-Identifier: Apache-2.0

/// Rules that can be read off a file's text.
enum TextRules {
    /// Lines at which a file has to be split.
    static let maximumLines = 500

    /// The width of a line, as `.swift-format` has it for code.
    static let maximumColumns = 120

    static let licence = "SPDX-License-Identifier: Apache-2.0"

    /// The first line names the licence; after a tools version or an interpreter line it is the second.
    static func licence(in file: SourceTree.File) -> [Violation] {
        let head = file.text.split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false)
        var first = head.first ?? ""
        if head.count > 1, first.hasPrefix("#!") || first.hasPrefix("// swift-tools-version") { first = head[1] }
        if first.contains(licence) { return [] }
        return [Violation(file: file.path, line: 1, reason: "no licence line")]
    }

    static func length(of file: SourceTree.File) -> [Violation] {
        let count = file.text.split(separator: "\n", omittingEmptySubsequences: false).count - 1
        if count <= maximumLines { return [] }
        return [Violation(file: file.path, line: count, reason: "\(count) lines: split it by aspect")]
    }

    /// The formatter keeps code within its columns and leaves comments alone. What is code in them stays as it is.
    static func wideComments(in file: SourceTree.File) -> [Violation] {
        var isCode = false
        return file.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap {
            index, line in
            let text = line.drop { $0 == " " }
            guard text.hasPrefix("//") else { return nil }
            if text.contains("```") { isCode.toggle() }
            guard !isCode, line.count > maximumColumns else { return nil }
            return Violation(file: file.path, line: index + 1, reason: "\(line.count) columns: break the comment")
        }
    }

    /// What traps on a value from outside.
    static func traps(in file: SourceTree.File) -> [Violation] {
        find(in: file, [(/\btry!/, "try! traps"), (/\bas!/, "as! traps"), (/\bfatalError\s*\(/, "fatalError traps")])
    }

    /// A test that sleeps is slow on a fast machine and fails on a slow one.
    static func sleeps(in file: SourceTree.File) -> [Violation] {
        find(in: file, [(/\bTask\.sleep\b/, "a test sleeps"), (/(?:^|[^.\w])(?:u|nano)?sleep\s*\(/, "a test sleeps")])
    }

    /// A reader of the project has no list that such a number stands in: the rule itself is said, or the clause of a
    /// specification.
    static func numbersOfRequirements(in file: SourceTree.File) -> [Violation] {
        file.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap { index, line in
            guard line.contains("-"), line.contains(/\b(?:R|STO|SEC)-\d+\b/) else { return nil }
            return Violation(file: file.path, line: index + 1, reason: "names a requirement by a number")
        }
    }

    /// A lock that the thread sanitizer cannot see: it would report what the lock prevents.
    static func invisibleLocks(in file: SourceTree.File) -> [Violation] {
        find(
            in: file, [(/\bMutex\b/, "the thread sanitizer does not see it: use Locked"), (/\bNSLock\b/, "use Locked")])
    }

    /// A socket that hangs up at the right moment ends a process whose Dispatch watches it.
    static func watchedSockets(in file: SourceTree.File) -> [Violation] {
        guard !file.path.hasSuffix("/DescriptorWatch.swift") else { return [] }
        return find(in: file, [(/make(?:Read|Write)Source/, "a hang-up may end the process: use DescriptorWatch")])
    }

    /// The name of a folder's entry is shorter than the field that it is declared as: a copy of the field reads behind
    /// the entry.
    static func copiedNames(in file: SourceTree.File) -> [Violation] {
        let copy = /(?:^|[^&\w.])\w+(?:\.pointee)?\.d_name/
        return find(in: file, [(copy, "copies d_name as a whole: take its address, &entry.pointee.d_name")])
    }

    /// A sign and an accent behind it are one `Character`, so are a carriage return and its line feed, and U+037E
    /// equals `;`. Text from outside that is cut at a `Character` is cut where its writer likes.
    static func cutsAtCharacters(in file: SourceTree.File) -> [Violation] {
        let sign = #"(?:[^"\\]|\\[^(])""#
        let patterns = [
            #"\.(?:split\(separator|firstIndex\(of|lastIndex\(of): ""# + sign,
            #"\.(?:prefix|drop|split|firstIndex|lastIndex)(?:\((?:where|while|whereSeparator): )? ?\{ \$0 [!=]= ""#
                + sign,
            #"[wW]here(?:Separator)?: \\\.is(?:Whitespace|Newline)\b"#,
        ]
        let cuts = patterns.compactMap { try? Regex($0) }
        guard cuts.count == patterns.count else {
            return [Violation(file: file.path, line: 0, reason: "the rule cannot be read")]
        }
        let text = file.swift
        return text.lines.indices.compactMap { index in
            // A cheap look before the regular expressions; what is a comment has no code.
            let line = text.lines[index]
            guard
                line.contains("{ $0 ") || line.contains("Index(of:") || line.contains("split(")
                    || line.contains("here"),
                text.code[index].contains("("), !line.contains("unicodeScalars"),
                cuts.contains(where: { line.firstMatch(of: $0) != nil })
            else { return nil }
            return Violation(
                file: file.path, line: index + 1, reason: "cuts text at a Character: use unicodeScalars or utf8")
        }
    }

    /// Concurrency that the compiler does not check states why it is right, on the line or just above it.
    static func uncheckedConcurrency(in file: SourceTree.File) -> [Violation] {
        let text = file.swift
        return text.code.indices.compactMap { index in
            guard ["@unchecked", "nonisolated(unsafe)", "Task.detached"].contains(where: text.code[index].contains)
            else {
                return nil
            }
            let from = max(0, index - 8)
            if text.lines[from...index].contains(where: { $0.contains("//") }) { return nil }
            return Violation(file: file.path, line: index + 1, reason: "unchecked concurrency without its invariant")
        }
    }

    /// Every `public` and `package` declaration has a `///` comment, unless it fulfils a requirement that has one.
    static func documentation(in file: SourceTree.File, inherited: Set<String>) -> [Violation] {
        let text = file.swift
        let declaration =
            /^\s*(?:@\S+\s+)*(?:public|package|open)(?:\(set\))?\s+(?!import\b|extension\b|private\(set\)\s*$)/
        var found: [Violation] = []
        for index in text.code.indices where startsDeclaration(text.code[index]) {
            guard text.code[index].contains(declaration), !isDocumented(text, index) else { continue }
            if let name = memberName(text.code[index]), inherited.contains(name) { continue }
            let name = text.code[index].split(whereSeparator: \.isWhitespace).prefix(4).joined(separator: " ")
            found.append(Violation(file: file.path, line: index + 1, reason: "no doc comment: \(name)"))
        }
        return found
    }

    /// A cheap look before the regular expression: tests are built without optimisation.
    private static func startsDeclaration(_ line: Substring) -> Bool {
        let start = line.drop { $0 == " " }
        return ["public", "package", "open", "@"].contains(where: start.hasPrefix)
    }

    /// The names of documented requirements of protocols: what fulfils them inherits their documentation.
    static func requirements(in file: SourceTree.File) -> Set<String> {
        let text = file.swift
        var names: Set<String> = []
        var depth = 0
        for index in text.code.indices {
            let line = text.code[index]
            if depth > 0, let name = memberName(line), isDocumented(text, index) { names.insert(name) }
            let opens = depth > 0 || line.contains("protocol ")
            if opens { depth += line.count { $0 == "{" } - line.count { $0 == "}" } }
        }
        return names
    }

    /// The name that `func` or `var` declares on a line; `let` fulfils the requirement of a `var`.
    private static func memberName(_ line: Substring) -> String? {
        guard let match = line.firstMatch(of: /\b(?:func|var|let)\s+(\w+)/) else { return nil }
        return String(match.1)
    }

    /// Walks upwards over attributes to the line that should be a doc comment.
    private static func isDocumented(_ text: SwiftText, _ declaration: Int) -> Bool {
        var index = declaration - 1
        while index >= 0 {
            let line = text.lines[index].drop { $0.isWhitespace }
            if line.hasPrefix("///") || line.hasSuffix("*/") { return true }
            guard line.hasPrefix("@") || line.hasPrefix("//") || line.hasPrefix("#if") else { return false }
            index -= 1
        }
        return false
    }

    private static func find(in file: SourceTree.File, _ patterns: [(Regex<Substring>, String)]) -> [Violation] {
        let text = file.swift
        var found: [Violation] = []
        for (index, line) in text.code.enumerated() {
            for (pattern, reason) in patterns where line.contains(pattern) {
                found.append(Violation(file: file.path, line: index + 1, reason: reason))
            }
        }
        return found
    }
}
