// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import XMPPTestSupport

/// One row of a table of hostile streams.
struct VectorRow: Sendable, CustomTestStringConvertible {
    let file: String
    let phase: String
    let state: String
    let outcomes: [String]

    var testDescription: String { "\(file) \(outcomes.joined(separator: "|"))" }

    /// What the server sends, with the ids of the session in place of their names.
    func bytes(_ ids: [String: String] = [:]) throws -> [UInt8] {
        var bytes = [UInt8](try Data(contentsOf: VectorTable.folder.appending(path: "hostile-streams/\(file)")))
        // The files end with the line break that editors add; it is white space between stanzas.
        guard let text = String(validating: bytes, as: UTF8.self), text.contains("@") else { return bytes }
        var filled = text
        for (name, id) in ids { filled = filled.replacing("@\(name)@", with: id) }
        bytes = Array(filled.utf8)
        return bytes
    }
}

/// The tables of hostile streams, and the list of rows that wait for a feature.
enum VectorTable {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Vectors")

    /// The rows for a parser, judged here together with the layers above it.
    static var parser: [VectorRow] {
        get throws {
            try VectorFile.rows("hostile-streams/parser.tsv").map {
                VectorRow(file: $0[0], phase: "parser", state: "", outcomes: alternatives($0[1]))
            }
        }
    }

    /// The rows for a point of a session.
    static var session: [VectorRow] {
        get throws {
            try VectorFile.rows("hostile-streams/session.tsv").map {
                VectorRow(file: $0[0], phase: $0[1], state: $0[2], outcomes: alternatives($0[3]))
            }
        }
    }

    /// The rows of these phases.
    static func session(_ phases: Set<String>) throws -> [VectorRow] {
        try session.filter { phases.contains($0.phase) }
    }

    /// Which rows wait for which feature.
    static var pending: [String: String] {
        get throws {
            Dictionary(try VectorFile.rows("pending.tsv").map { ($0[0], $0[1]) }, uniquingKeysWith: { $1 })
        }
    }

    /// Which rows are about a feature that is none of this project's, by what every source with that feature would
    /// hold.
    static var foreign: [String: String] {
        get throws {
            Dictionary(try VectorFile.rows("foreign.tsv").map { ($0[0], $0[2]) }, uniquingKeysWith: { $1 })
        }
    }

    /// `close:a|b` is short for `close:a|close:b`.
    private static func alternatives(_ text: String) -> [String] {
        let words = text.split(separator: "|").map(String.init)
        return words.map { word in
            let isCondition = !word.contains(":") && !["abort", "ignore", "continue"].contains(word)
            return isCondition ? "close:" + word : word
        }
    }
}

extension [UInt8] {
    /// The ways in which a network may cut bytes: in chunks, and in two at every byte.
    ///
    /// - Parameter step: The distance of the cuts. In the middle of what is too long to be cut at every byte, it is
    ///   more.
    func cuts(every step: Int = 1) -> [[ArraySlice<UInt8>]] {
        let chunks = [1, 2, 3, 7, 64, 1500].map { size in
            stride(from: 0, to: count, by: size).map { self[$0..<Swift.min($0 + size, count)] }
        }
        let edge = 700
        // Where bytes are cut makes no race: under the thread sanitizer, which takes ten times as long, some cuts will
        // do.
        let step = Patience.isSanitized ? 40 * step : step
        let cuts = stride(from: 1, to: count, by: step).filter { $0 < edge || $0 > count - edge || $0 % 331 == 0 }
        return chunks + cuts.map { [self[..<$0], self[$0...]] }
    }
}
