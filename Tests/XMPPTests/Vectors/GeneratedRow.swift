// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPTestSupport

/// Input too large to keep as a file: a prefix, a unit many times, and a suffix.
struct GeneratedRow: Sendable, CustomTestStringConvertible {
    let id: String
    let phase: String
    let prefix: String
    let unit: String
    let count: Int
    let suffix: String
    let outcomes: [String]

    var testDescription: String { "\(id) \(outcomes.joined(separator: "|"))" }

    static var all: [GeneratedRow] {
        get throws {
            try VectorFile.rows("hostile-streams/generated.tsv").map { line in
                try GeneratedRow(
                    id: line[0], phase: line[1], prefix: line[2], unit: line[3],
                    count: #require(Int(line[4])), suffix: line[5],
                    outcomes: line[6].split(separator: "|").map(String.init))
            }
        }
    }

    static func named(_ id: String) throws -> GeneratedRow {
        try #require(try all.first { $0.id == id })
    }

    /// The input with at most so many units, in reads of at most 16 KiB.
    func pieces(maximumUnits: Int) -> [ArraySlice<UInt8>] {
        let units = (0..<min(count, maximumUnits)).map { unit.replacing("{i}", with: String($0)) }
        let bytes = Array((prefix + units.joined() + suffix).utf8)
        return stride(from: 0, to: bytes.count, by: 16_384).map { bytes[$0..<min($0 + 16_384, bytes.count)] }
    }
}
