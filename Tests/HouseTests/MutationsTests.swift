// SPDX-License-Identifier: Apache-2.0

import Testing

/// The table that `Scripts/mutants` works through: here it is only held against the sources, which takes no time.
@Suite("The table of gates")
struct MutationsTests {
    /// One row: what is replaced where, and which tests must notice.
    struct Mutation: Sendable, CustomTestStringConvertible {
        let gate: String
        let clause: String
        let file: String
        let text: String
        let replacement: String
        let filter: String
        var testDescription: String { gate }

        init?(_ row: Substring) {
            let columns = row.split(separator: "\t", omittingEmptySubsequences: false)
                .map { String($0).replacing("⏎", with: "\n") }
            guard columns.count == 6 else { return nil }
            (gate, clause, file) = (columns[0], columns[1], columns[2])
            (text, replacement, filter) = (columns[3], columns[4], columns[5])
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

    @Test("every gate has its proof in the document, by a test that is there")
    func proofs() throws {
        let document = try SourceTree.text("Tests/Mutations/README.md")
        let lines = document.split(separator: "\n").filter { $0.hasPrefix("| ") }
        let tests = SourceTree.files.filter { $0.path.hasPrefix("Tests/") }.map(\.text)
        var known: Set<String> = []
        let gates = Self.rows.compactMap(Mutation.init).filter { known.insert($0.gate).inserted }
        #expect(lines.count == gates.count + 2, "a line for each, and the two of the head")
        for (line, gate) in zip(lines.dropFirst(2), gates) {
            let start = "| \(gate.gate) | \(gate.clause) | \(gate.filter): "
            #expect(line.hasPrefix(start), "\(line)")
            let name = line.dropFirst(start.count).dropLast(2).replacing("\"", with: "\\\"")
            #expect(tests.contains { $0.contains("\"\(name)\"") }, "no test is called “\(name)”")
        }
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
