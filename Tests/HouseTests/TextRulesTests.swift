// SPDX-License-Identifier: Apache-2.0

import Testing

@Suite("Text of the files")
struct TextRulesTests {
    /// Holds the files of some folders against a rule.
    private func check(
        _ folders: [String] = ["Sources", "Tests", "Examples", "Benchmarks"],
        extensions: Set<String> = ["swift"],
        sourceLocation: SourceLocation = #_sourceLocation,
        _ rule: (SourceTree.File) -> [Violation]
    ) {
        #expect(SourceTree.files.count > 50, "the sources were not found", sourceLocation: sourceLocation)
        let found = SourceTree.files.filter { file in
            folders.contains { file.path.hasPrefix($0 + "/") } && extensions.contains { file.path.hasSuffix("." + $0) }
        }.flatMap(rule)
        #expect(found.isEmpty, report(found), sourceLocation: sourceLocation)
    }

    @Test("every source file begins with the licence")
    func licence() {
        check(extensions: ["swift", "c", "h", "modulemap"], TextRules.licence(in:))
    }

    @Test("no file is longer than 500 lines")
    func length() {
        check { TextRules.length(of: $0) }
    }

    @Test("no comment is wider than 120 columns")
    func wideComments() {
        check { TextRules.wideComments(in: $0) }
    }

    @Test("no source traps by try!, as! or fatalError")
    func traps() {
        check(["Sources"], TextRules.traps(in:))
    }

    @Test("no test sleeps")
    func sleeps() {
        check(["Tests"], TextRules.sleeps(in:))
    }

    @Test("no file names a requirement by a number")
    func numbersOfRequirements() {
        check { TextRules.numbersOfRequirements(in: $0) }
    }

    @Test("every lock is one that the thread sanitizer sees")
    func invisibleLocks() {
        // Benchmarks and examples that are packages of their own see the public library only.
        check(["Sources", "Tests", "Benchmarks/Floods"], TextRules.invisibleLocks(in:))
    }

    @Test("Dispatch watches no socket itself")
    func watchedSockets() {
        check(["Sources", "Benchmarks/Floods", "Tests/Sweep"], TextRules.watchedSockets(in:))
    }

    @Test("no name of a folder's entry is copied with what lies behind it")
    func copiedNames() {
        check { TextRules.copiedNames(in: $0) }
    }

    @Test("no text from outside is cut at a Character")
    func cutsAtCharacters() {
        // Words of our own, of who runs a test, and what the user has just typed.
        let trusted = [
            "Sources/XMPPTestSupport/", "Sources/xmpp-", "Sources/JabberControl/Table/", "Sources/JabberCLI/Help/",
            "Sources/JabberControl/Configuration/SettingSpec.swift", "Sources/JabberCLI/GlobalOptions.swift",
            "Sources/JabberCLI/CommandLine.swift", "Sources/JabberCLI/Commands/AccountCommands.swift",
            "Sources/JabberCLI/Commands/CommandContext.swift", "Sources/JabberCLI/Chat/ChatInput.swift",
            // Lines for a terminal: there a Character is what is shown.
            "Sources/JabberCLI/Rendering/TerminalText+Width.swift",
            // Scalars already.
            "Sources/JabberCLI/Commands/SendxmppFile.swift", "Sources/XMPPStorage/Stores/MessageArchive.swift",
        ]
        check(["Sources"]) { file in
            trusted.contains { file.path.hasPrefix($0) } ? [] : TextRules.cutsAtCharacters(in: file)
        }
    }

    @Test("every public and package declaration has a doc comment, or fulfils a requirement that has one")
    func documentation() {
        let inherited = Set(SourceTree.files.flatMap(TextRules.requirements(in:)))
        check(["Sources"]) { TextRules.documentation(in: $0, inherited: inherited) }
    }

    @Test("concurrency that the compiler does not check states its invariant")
    func uncheckedConcurrency() {
        check(["Sources"], TextRules.uncheckedConcurrency(in:))
    }

    private func undocumented(_ file: SourceTree.File) -> [Violation] {
        TextRules.documentation(in: file, inherited: [])
    }

    private func sample(_ text: String) -> SourceTree.File {
        SourceTree.File(path: "Sources/XMPP/A.swift", text: text)
    }

    @Test("a missing licence is found")
    func licenceSamples() {
        #expect(TextRules.licence(in: sample("import XMPP\n")).count == 1)
        #expect(TextRules.licence(in: sample("\n// \(TextRules.licence)\n")).count == 1)
        #expect(TextRules.licence(in: sample("")).count == 1)
        #expect(TextRules.licence(in: sample("// \(TextRules.licence)\n\nimport XMPP\n")) == [])
        #expect(TextRules.licence(in: sample("// swift-tools-version: 6.3\n// \(TextRules.licence)\n")) == [])
    }

    @Test("the length is judged at the limit and one past it")
    func lengthSamples() {
        #expect(TextRules.length(of: sample(String(repeating: "\n", count: 500))) == [])
        #expect(TextRules.length(of: sample(String(repeating: "\n", count: 501))).count == 1)
    }

    @Test(
        "what traps is found in code, not in prose",
        arguments: [
            ("let a = try! f()", 1), ("let a = b as! C", 1), ("fatalError(\"x\")", 1), ("try? f()", 0), ("b as? C", 0),
            ("// never try! this", 0), ("let a = \"as! try! fatalError()\"", 0), ("/* a /* try! */ as! */ f()", 0),
            ("let a = \"\\(try! f())\"", 1), ("let a = #\"\\(try! f())\"#", 0), ("\"\"\"\ntry! \" as!\n\"\"\"", 0),
            ("let a = \"\\(f(\"x\")) as! \"", 0),
        ])
    func trapSamples(_ text: String, _ count: Int) {
        #expect(TextRules.traps(in: sample(text)).count == count)
    }

    @Test(
        "a sleep in a test is found",
        arguments: [
            "try await Task.sleep(for: .seconds(1))", "usleep(10)", "sleep(1)", "nanosleep(&a, nil)",
        ])
    func sleepSamples(_ text: String) {
        #expect(TextRules.sleeps(in: sample(text)).count == 1)
    }

    @Test("the number of a requirement is found, and that of a specification is not")
    func numberSamples() {
        let number = ["STO", "4"].joined(separator: "-")
        #expect(TextRules.numbersOfRequirements(in: sample("// (\(number))\n@Test(\"x (\(number))\")")).count == 2)
        #expect(TextRules.numbersOfRequirements(in: sample("// XEP-0198, RFC 6120, A\(number)")) == [])
    }

    @Test("a source of a socket's own is found")
    func watchedSocketIsFound() {
        let text = "let a = DispatchSource.makeReadSource(fileDescriptor: 1)\nlet b = DispatchSource.makeWriteSource("
        #expect(TextRules.watchedSockets(in: sample(text)).count == 2)
        #expect(TextRules.watchedSockets(in: sample("let a = DispatchSource.makeTimerSource()")) == [])
    }

    @Test("a lock that the thread sanitizer does not see is found in code")
    func lockSamples() {
        #expect(TextRules.invisibleLocks(in: sample("let a = Mutex(0)\nlet b: Mutex<Int>")).count == 2)
        #expect(TextRules.invisibleLocks(in: sample("private let lock = NSLock()")).count == 1)
        #expect(TextRules.invisibleLocks(in: sample("// as Mutex\nlet a = Locked(0)\nlet mutex = 1")) == [])
    }

    @Test("a name that is copied with what lies behind it is found, one that is read in its place is not")
    func nameSamples() {
        for copy in [
            "withUnsafeBytes(of: entry.pointee.d_name) {", "let name = entry.d_name", "f(a: e.pointee.d_name)",
        ] {
            #expect(TextRules.copiedNames(in: sample(copy)).count == 1, "\(copy)")
        }
        #expect(TextRules.copiedNames(in: sample("withUnsafeBytes(of: &entry.pointee.d_name) { $0 }")) == [])
    }

    @Test(
        "a cut at a Character is found, one at a scalar or a byte is not",
        arguments: [
            (#"text.split(separator: "\n", maxSplits: 1)"#, 1), (#"text.firstIndex(of: "=")"#, 1),
            (#"text.lastIndex(of: "\\")"#, 1), (#"String(text.prefix { $0 != "@" })"#, 1),
            (#"text.drop(while: { $0 == " " })"#, 1), (#"text.split(whereSeparator: \.isWhitespace)"#, 1),
            (#"text.unicodeScalars.split(separator: "\n")"#, 0), (#"bytes.firstIndex(of: UInt8(ascii: "="))"#, 0),
            (#"words.firstIndex(of: "```")"#, 0), (#"// text.split(separator: ",")"#, 0),
            (#"text.split(separator: separator)"#, 0), (#"words.filter { $0 != "a" }"#, 0),
        ])
    func cutSamples(_ text: String, _ count: Int) {
        #expect(TextRules.cutsAtCharacters(in: sample(text)).count == count)
    }

    @Test("a declaration without a doc comment is found")
    func documentationSamples() {
        #expect(undocumented(sample("public struct A {}")).count == 1)
        #expect(undocumented(sample("// plain\npackage func f()")).count == 1)
        #expect(undocumented(sample("/// Doc.\n\npublic let a = 1")).count == 1)
        #expect(undocumented(sample("@inlinable public func f() {}")).count == 1)
        #expect(undocumented(sample("/// Doc.\n@inlinable\npublic func f() {}")) == [])
        #expect(undocumented(sample("    /// Doc.\n    public private(set) var a: Int")) == [])
        #expect(undocumented(sample("public import XMPPCore\npublic extension A {}")) == [])
        #expect(undocumented(sample("let publicKey = 1\nfunc package() {}")) == [])
    }

    @Test("what fulfils a documented requirement needs no comment of its own")
    func requirementSamples() {
        let file = sample("package protocol A {\n    /// Doc.\n    func f()\n    func g()\n}\nvar h = 1")
        #expect(TextRules.requirements(in: file) == ["f"])
        #expect(TextRules.documentation(in: sample("package func f() {}"), inherited: ["f"]) == [])
        #expect(TextRules.documentation(in: sample("package func g() {}"), inherited: ["f"]).count == 1)
    }

    @Test("an unchecked Sendable without a word beside it is found")
    func uncheckedSamples() {
        #expect(TextRules.uncheckedConcurrency(in: sample("final class A: @unchecked Sendable {}")).count == 1)
        #expect(TextRules.uncheckedConcurrency(in: sample("nonisolated(unsafe) var a = 1")).count == 1)
        #expect(
            TextRules.uncheckedConcurrency(in: sample("/// Invariant: locked.\nfinal class A: @unchecked Sendable {}"))
                == [])
    }
}
