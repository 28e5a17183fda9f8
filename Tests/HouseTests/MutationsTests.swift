// SPDX-License-Identifier: Apache-2.0

import Testing

/// The table that `Scripts/mutants` works through: here it is only held against the sources, which takes no time.
@Suite("The table of gates")
struct MutationsTests {
    /// One row: what is replaced where, and which tests must notice.
    struct Mutation: Sendable, CustomTestStringConvertible {
        let gate: String
        let file: String
        let text: String
        let replacement: String
        let filter: String
        var testDescription: String { gate }

        init?(_ row: Substring) {
            let columns = row.split(separator: "\t", omittingEmptySubsequences: false)
                .map { String($0).replacing("⏎", with: "\n") }
            guard columns.count == 6 else { return nil }
            (gate, file, text, replacement, filter) = (columns[0], columns[2], columns[3], columns[4], columns[5])
        }
    }

    private static let rows = ((try? SourceTree.text("Tests/Mutations/table.tsv")) ?? "")
        .split(separator: "\n").filter { !$0.hasPrefix("#") }

    @Test("names at least two hundred gates, each with all its columns")
    func size() {
        let mutations = Self.rows.compactMap(Mutation.init)
        #expect(mutations.count == Self.rows.count)
        #expect(Set(mutations.map(\.gate)).count >= 200)
    }

    @Test(
        "every gate is there exactly once, and its replacement has a switch",
        arguments: rows.compactMap(Mutation.init))
    func fits(_ mutation: Mutation) throws {
        let source = try SourceTree.text(mutation.file)
        #expect(source.ranges(of: mutation.text).count == 1, "\(mutation.file): \(mutation.text)")
        #expect(mutation.replacement.contains("OFF"))
    }

    @Test("every filter names tests", arguments: Set(rows.compactMap(Mutation.init).map(\.filter)).sorted())
    func filters(_ filter: String) {
        let isThere = SourceTree.files.contains { file in
            file.path.hasPrefix("Tests/\(filter)/")
                || file.path.hasPrefix("Tests/") && file.text.contains("struct \(filter)")
        }
        #expect(isThere)
    }
}
