// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import XMPPTestSupport

@testable import XMPPXML

@Suite("Hostile streams, each read whole, cut at every byte and in chunks")
struct HostileStreamTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let file: String
        let outcomes: [String]
        var testDescription: String { "\(file) \(outcomes)" }
    }

    static var rows: [Row] {
        get throws {
            try VectorFile.rows("hostile-streams/parser.tsv").map {
                Row(file: $0[0], outcomes: $0[1].split(separator: "|").map(String.init))
            }
        }
    }

    /// Well-formed streams whose fault is in what the elements mean: the parser delivers them as they are.
    static let judgedAbove: [String: Int] = [
        "p-header-wrong-ns.xml": 0, "p-header-wrong-name.xml": 0, "p-header-no-version.xml": 0,
        "p-header-version-junk.xml": 0, "p-header-other-from.xml": 0, "p-header-extra-ns.xml": 2,
        "p-error-then-more.xml": 1,
    ]

    @Test("A stream is refused with the right condition or delivered (RFC 6120 §4.9.3, §11)", arguments: try rows)
    func outcome(row: Row) throws {
        let bytes = try [UInt8](Data(contentsOf: ParserHarness.vectors.appending(path: "hostile-streams/\(row.file)")))
        let whole = ParserHarness.run(bytes)
        if let messages = Self.judgedAbove[row.file] {
            #expect(whole.error == nil && whole.messages.count == messages, "\(whole)")
        } else if let condition = whole.condition, row.outcomes[0].hasPrefix("close:") || row.outcomes.count > 1 {
            #expect(row.outcomes.contains(condition) || row.outcomes.contains("close:\(condition)"), "\(whole)")
        } else if let deliver = row.outcomes.first(where: { $0.hasPrefix("deliver:") }) {
            #expect("deliver:\(whole.messages.count)" == deliver, "\(whole)")
            // Data after the root's end is an error that comes after what was delivered (RFC 6120 §4.4).
            let hasMoreAfterEnd = row.file == "p-after-close.xml" || row.file == "p-second-root.xml"
            #expect((whole.error != nil) == hasMoreAfterEnd, "\(whole)")
        } else {
            #expect(row.outcomes.contains("abort") || row.outcomes.contains("continue"), "\(whole)")
            #expect(whole.error == nil, "\(whole)")
        }
        #expect(ParserHarness.differences(bytes, from: whole).isEmpty)
    }

    @Test(
        "Character data arrives as XML says (XML §2.7, §2.11, §4.6)",
        arguments: [
            ("p-entities-predefined.xml", "<>&'\"AB"), ("p-cdata.xml", "<b>&amp;"), ("p-literal-crlf.xml", "a\nb\nc"),
            ("p-charref-cr.xml", "ok\rFAKE"), ("p-bom-in-body.xml", "\u{FEFF}x"),
            ("p-charref-c1.xml", "\u{9B}31mred\u{9D}0;t\u{9C}"),
        ])
    func text(file: String, body: String) throws {
        let bytes = try [UInt8](Data(contentsOf: ParserHarness.vectors.appending(path: "hostile-streams/\(file)")))
        let message = try #require(ParserHarness.run(bytes).messages.first)
        let found = try #require(message.firstChild("body", namespace: "jabber:client"))
        #expect(Array(found.text.unicodeScalars) == Array(body.unicodeScalars))
        #expect(found.nodes.count == 1)
    }
}
