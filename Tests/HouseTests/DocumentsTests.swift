// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Documents")
struct DocumentsTests {
    /// `make NAME` in running text that the Makefile does not know.
    static func unknownTargets(in text: String, makefile: String) -> [String] {
        let known = Set(makefile.matches(of: /(?m)^([a-z][a-z-]*):/).map { String($0.1) })
        let named =
            text.matches(of: /`make ([a-z-]+)/).map { String($0.1) }
            + text.matches(of: /(?m)^\$? *make ([a-z-]+)/).map { String($0.1) }
        return Set(named).subtracting(known).sorted()
    }

    /// Relative links of a document that lead to no file.
    static func deadLinks(in text: String) -> [String] {
        text.matches(of: /\]\(([^):#]+)(?:#[^)]*)?\)/).map { String($0.1) }.filter {
            !FileManager.default.fileExists(atPath: SourceTree.root.appending(path: $0).path)
        }
    }

    /// Lines of a document's Swift code that no source has. Code of a manifest is left out.
    static func linesWithoutSource(in document: String, sources: Set<Substring>) -> [Substring] {
        document.matches(of: /```swift\n(?<code>(?s:.*?))```/)
            .filter { !$0.code.contains(".product(name:") }
            .flatMap { $0.code.split(separator: "\n") }
            .map { Substring($0.drop { $0 == " " }) }
            .filter { !$0.isEmpty && !sources.contains($0) }
    }

    @Test(
        "the Swift code of a document is compiled by a test or an example",
        arguments: [
            "README.md", "Sources/XMPP/Documentation.docc/GettingStarted.md",
            "Sources/XMPP/Documentation.docc/Delegates.md", "Sources/XMPP/Documentation.docc/Concurrency.md",
            "Sources/XMPP/Documentation.docc/DaemonClients.md",
            "Sources/XMPP/Documentation.docc/KeepingWhatMatters.md",
            "Sources/XMPP/Documentation.docc/TestingYourCode.md",
            "Sources/XMPP/Documentation.docc/YourOwnExtension.md",
        ])
    func code(_ document: String) throws {
        let files = SourceTree.files.filter {
            $0.path.hasPrefix("Tests/ManualTests/") || $0.path.hasPrefix("Examples/")
        }
        let lines = files.flatMap { $0.text.split(separator: "\n").map { $0.drop { $0 == " " } } }
        #expect(Self.linesWithoutSource(in: try SourceTree.text(document), sources: Set(lines)) == [])
    }

    @Test("code in a document that nothing compiles is found")
    func codeSamples() {
        let text = "a\n```swift\nlet a = 1\n    let b = 2\n```\n```\nlet c\n```\n```swift\n.product(name: x)\n```\n"
        #expect(Self.linesWithoutSource(in: text, sources: ["let a = 1"]) == ["let b = 2"])
    }

    @Test("the change log has a section for what is not released yet")
    func changeLog() throws {
        #expect(try SourceTree.text("CHANGELOG.md").contains(/(?m)^## \[?Unreleased\]?$/))
    }

    @Test("a document names only make targets that exist", arguments: ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
    func targets(_ document: String) throws {
        let makefile = try SourceTree.text("Makefile")
        #expect(Self.unknownTargets(in: try SourceTree.text(document), makefile: makefile) == [])
    }

    @Test("a document links only to files that exist", arguments: ["README.md", "CONTRIBUTING.md", "SECURITY.md"])
    func links(_ document: String) throws {
        #expect(Self.deadLinks(in: try SourceTree.text(document)) == [])
    }

    @Test("the drawing of the floors shows every target of the manifest")
    func drawing() throws {
        let article = try SourceTree.text("Sources/XMPP/Documentation.docc/Architecture.md")
        let targets = Manifest(try SourceTree.text("Package.swift")).dependencies.keys
        #expect(targets.filter { !article.contains($0) }.sorted() == [])
    }

    @Test("the licence is the whole Apache License 2.0")
    func licence() throws {
        let text = try SourceTree.text("LICENSE")
        #expect(text.contains("Apache License") && text.contains("END OF TERMS AND CONDITIONS"))
    }

    @Test("a make target or a link that does not exist is found")
    func samples() {
        #expect(Self.unknownTargets(in: "run `make tea` or `make test`\n", makefile: "test:\n") == ["tea"])
        #expect(Self.unknownTargets(in: "$ make tea\n", makefile: "test:\n") == ["tea"])
        #expect(Self.deadLinks(in: "[a](Package.swift) [b](no/such/file.md#top)") == ["no/such/file.md"])
    }
}
