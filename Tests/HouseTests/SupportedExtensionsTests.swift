// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Supported extensions")
struct SupportedExtensionsTests {
    /// One extension as a document tells of it.
    struct Row: Hashable, Comparable, CustomStringConvertible {
        let number: String
        let status: String
        let note: String

        var description: String { "XEP-\(number) \(status): \(note)" }

        static func < (left: Row, right: Row) -> Bool { left.description < right.description }
    }

    static func rows(ofProject text: String) -> [Row] {
        let entry = /xep-(\d{4})\.html"\/>\s*<xmpp:status>(\w+)<\/xmpp:status>\s*<xmpp:note>([^<]*)<\/xmpp:note>/
        return text.matches(of: entry).map { Row(number: "\($0.1)", status: "\($0.2)", note: "\($0.3)") }
    }

    static func rows(ofArticle text: String) -> [Row] {
        let line =
            /(?m)^\| \[XEP-(\d{4})\]\(https:\/\/xmpp\.org\/extensions\/xep-(\d{4})\.html\) \| [^|]+ \| (\w+) \| ([^|]*) \|$/
        return text.matches(of: line).filter { $0.1 == $0.2 }.map {
            Row(number: "\($0.1)", status: "\($0.3)", note: "\($0.4)")
        }
    }

    @Test("the list for machines and the one for people say the same, in the order of the numbers")
    func lists() throws {
        let project = Self.rows(ofProject: try SourceTree.text("doap.xml"))
        let article = try SourceTree.text("Sources/XMPP/Documentation.docc/SupportedExtensions.md")
        #expect(project.count > 15 && project == project.sorted())
        #expect(Self.rows(ofArticle: article) == project)
        #expect(article.matches(of: /(?m)^\| \[XEP-/).count == project.count, "a line that is not read")
    }

    @Test("every extension that has a folder is in the list")
    func folders() throws {
        let listed = Set(Self.rows(ofProject: try SourceTree.text("doap.xml")).map(\.number))
        let folders = Set(
            SourceTree.files.compactMap { file in
                file.path.firstMatch(of: /^Sources\/XMPP\/Extensions\/XEP-(\d{4})-\w+\//).map { "\($0.1)" }
            })
        #expect(folders.count > 5)
        #expect(folders.subtracting(listed).sorted() == [])
    }

    @Test("a difference between the lists is found")
    func samples() {
        let line = "| [XEP-0004](https://xmpp.org/extensions/xep-0004.html) | Data Forms | complete | All |"
        #expect(Self.rows(ofArticle: line) == [Row(number: "0004", status: "complete", note: "All")])
        #expect(Self.rows(ofArticle: line.replacing("xep-0004", with: "xep-0005")) == [])
    }
}
