// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("The tables of hostile streams")
struct VectorTableTests {
    /// The phases that the suites beside this one run.
    private static let phases: Set = ["pre-tls", "post-tls", "sasl", "sasl2", "post-sasl", "bound", "sm"]

    @Test("every file has a row, and every row a file")
    func filesAndRows() throws {
        let folder = VectorTable.folder.appending(path: "hostile-streams")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".xml") }
        let rows = try (VectorTable.parser + VectorTable.session).map(\.file)
        #expect(Set(files) == Set(rows))
        #expect(rows.count == Set(rows).count)
    }

    @Test("a row is run, or named among those that wait for a feature")
    func nothingIsForgotten() throws {
        let pending = try VectorTable.pending
        let rows = try VectorTable.session
        for row in rows where !Self.phases.contains(row.phase) {
            #expect(pending[row.file] != nil, "\(row) is neither run nor pending")
        }
        let recipes = try GeneratedRow.all.map(\.id)
        let sections = VectorSummary.documents.flatMap { table, sections in sections.map { "\(table) \($0)" } }
        let unknown = Set(pending.keys).subtracting(rows.map(\.file)).subtracting(recipes).subtracting(sections)
        #expect(unknown.isEmpty, "pending, but in no table: \(unknown.sorted())")
        #expect(pending.values.allSatisfy { !$0.isEmpty })
    }

    @Test("a row that asks for nothing to happen waits for no feature")
    func nothingToWaitFor() throws {
        let pending = try VectorTable.pending
        for row in try VectorTable.session(["bound"]) where pending[row.file] != nil {
            #expect(!row.outcomes.contains("ignore") && !row.outcomes.contains("continue"), "\(row)")
        }
        for row in try VectorTable.session(["pre-tls", "post-tls", "sasl", "post-sasl", "sm"]) {
            #expect(pending[row.file] == nil, "\(row)")
        }
    }

    @Test("a row is none of this project's for as long as no source has what it is about, and lets nothing happen")
    func foreign() throws {
        let sources = VectorTable.folder.deletingLastPathComponent().deletingLastPathComponent().appending(
            path: "Sources")
        let walk = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
        let files = (walk?.allObjects ?? []).compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
        #expect(files.count > 100)
        let text = try files.map { try String(contentsOf: $0, encoding: .utf8) }.joined()
        let (rows, pending) = (try VectorTable.session(["bound"]), try VectorTable.pending)
        for (file, mark) in try VectorTable.foreign {
            let row = try #require(rows.first { $0.file == file }, "\(file) is in no table")
            #expect(row.outcomes == ["continue"] && pending[file] == nil, "\(row)")
            #expect(String(decoding: try row.bytes(), as: UTF8.self).contains(mark), "\(file) does not hold \(mark)")
            #expect(!text.contains(mark), "\(file) can be met now: its row leaves")
        }
    }

    @Test("the count of rows passed and pending is told at the very end")
    func count() throws {
        let counts = try VectorSummary.counts
        #expect(counts.allSatisfy { $0.rows > 0 }, "\(counts)")
        #expect(counts.reduce(0) { $0 + $1.rows - $1.pending - $1.foreign } > 700)
        let foreign = try VectorTable.foreign.count
        #expect(counts.reduce(0) { $0 + $1.foreign } == foreign)
        // When all tests have ended, so has this process.
        atexit {
            guard let text = try? VectorSummary.text() else { return }
            print(text, terminator: "")
        }
    }
}
