// SPDX-License-Identifier: Apache-2.0

import Testing

@Suite("Text of the files")
struct TextRulesTests {
    private static let folders = ["Sources", "Tests", "Examples", "Benchmarks"]

    private func violations(
        under folders: [String],
        _ extensions: Set<String> = ["swift"],
        breaking rule: (SourceTree.File) -> [Violation]
    ) throws -> [Violation] {
        try SourceTree.files(under: folders, extensions: extensions).flatMap(rule)
    }

    @Test("every source file begins with the licence")
    func licence() throws {
        let kinds: Set<String> = ["swift", "c", "h", "modulemap"]
        #expect(try violations(under: Self.folders, kinds, breaking: TextRules.licence(in:)) == [])
    }

    @Test("no file is longer than 500 lines")
    func length() throws {
        #expect(try violations(under: Self.folders, breaking: TextRules.length(of:)) == [])
    }

    @Test("no source traps by try!, as! or fatalError")
    func traps() throws {
        #expect(try violations(under: ["Sources"], breaking: TextRules.traps(in:)) == [])
    }

    @Test("no test sleeps")
    func sleeps() throws {
        #expect(try violations(under: ["Tests"], breaking: TextRules.sleeps(in:)) == [])
    }

    @Test("every public and package declaration has a doc comment")
    func documentation() throws {
        #expect(try violations(under: ["Sources"], breaking: TextRules.documentation(in:)) == [])
    }

    @Test("concurrency that the compiler does not check states its invariant")
    func uncheckedConcurrency() throws {
        #expect(try violations(under: ["Sources"], breaking: TextRules.uncheckedConcurrency(in:)) == [])
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
        #expect(TextRules.licence(in: sample("// swift-tools-version: 6.2\n// \(TextRules.licence)\n")) == [])
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

    @Test("a declaration without a doc comment is found")
    func documentationSamples() {
        #expect(TextRules.documentation(in: sample("public struct A {}")).count == 1)
        #expect(TextRules.documentation(in: sample("// plain\npackage func f()")).count == 1)
        #expect(TextRules.documentation(in: sample("/// Doc.\n\npublic let a = 1")).count == 1)
        #expect(TextRules.documentation(in: sample("@inlinable public func f() {}")).count == 1)
        #expect(TextRules.documentation(in: sample("/// Doc.\n@inlinable\npublic func f() {}")) == [])
        #expect(TextRules.documentation(in: sample("    /// Doc.\n    public private(set) var a: Int")) == [])
        #expect(TextRules.documentation(in: sample("public import XMPPCore\npublic extension A {}")) == [])
        #expect(TextRules.documentation(in: sample("let publicKey = 1\nfunc package() {}")) == [])
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
