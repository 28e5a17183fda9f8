// SPDX-License-Identifier: Apache-2.0

import Foundation
import XMPPTestSupport

/// How many rows of each table are run, how many wait for a feature, and how many are about one that is none of this
/// project's: the last thing that `make test` prints.
///
/// A row that is run and fails, fails the tests: where they pass, what is run has passed. One of the last kind is run
/// too, and proves that what it holds does no harm.
enum VectorSummary {
    /// One table.
    struct Count: Sendable {
        let table: String
        let rows: Int
        let pending: Int
        var foreign = 0
    }

    /// All tables, in the order in which they are told.
    static var counts: [Count] {
        get throws {
            let (pending, foreign) = (try VectorTable.pending, try VectorTable.foreign)
            func count(_ table: String, _ names: [String]) -> Count {
                Count(
                    table: table, rows: names.count, pending: names.count { pending[$0] != nil },
                    foreign: names.count { foreign[$0] != nil })
            }
            var counts = [
                count("hostile-streams/parser.tsv", try VectorTable.parser.map(\.file)),
                count("hostile-streams/session.tsv", try VectorTable.session.map(\.file)),
                count("hostile-streams/generated.tsv", try GeneratedRow.all.map(\.id)),
            ]
            for table in [
                "xml/generated.tsv", "xml/utf8.tsv", "jids.tsv", "jid-escape.tsv", "certnames.tsv", "datetime.tsv",
                "sm-counters.tsv", "terminal.tsv",
            ] {
                // In these no row waits: whoever reads them takes every row.
                counts.append(Count(table: table, rows: try VectorFile.rows(table).count, pending: 0))
            }
            for (table, sections) in documents {
                for section in sections {
                    let rows = try sectionRows(table, section)
                    let name = "\(table) \(section)"
                    counts.append(Count(table: name, rows: rows, pending: pending[name] == nil ? 0 : rows))
                }
            }
            return counts
        }
    }

    /// The documents and those of their sections that hold rows; the others are rules in prose, with tests of their
    /// own.
    static let documents = [
        ("scram.json", ["exchanges", "negative", "pbkdf2", "base64", "ht", "ssdp", "gs2_rules", "saslprep"]),
        ("caps.json", ["valid", "ill_formed"]),
    ]

    private static func sectionRows(_ table: String, _ section: String) throws -> Int {
        let data = try Data(contentsOf: VectorTable.folder.appending(path: table))
        let document = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        return (document?[section] as? [Any])?.count ?? 0
    }

    /// The table of counts.
    static func text() throws -> String {
        let counts = try counts
        let total = Count(
            table: "all", rows: counts.reduce(0) { $0 + $1.rows }, pending: counts.reduce(0) { $0 + $1.pending },
            foreign: counts.reduce(0) { $0 + $1.foreign })
        let lines = (counts + [total]).map { count in
            let name = count.table.padding(toLength: 34, withPad: " ", startingAt: 0)
            let passed = count.rows - count.pending - count.foreign
            let foreign = count.foreign == 0 ? "" : ", \(count.foreign) not of this project"
            return "\(name)\(passed) passed, \(count.pending) pending\(foreign)"
        }
        return "Rows of Tests/Vectors:\n" + lines.joined(separator: "\n") + "\n"
    }
}
