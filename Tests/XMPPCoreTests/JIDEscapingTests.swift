// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore
import XMPPTestSupport

@Suite("JID escaping (XEP-0106)")
struct JIDEscapingTests {
    static let rows = (try? VectorFile.rows("jid-escape.tsv")) ?? []

    @Test("the table of vectors is there")
    func table() {
        #expect(Self.rows.count == 17)
    }

    @Test("names are escaped, and read again, as in the examples (XEP-0106 §5)", arguments: rows)
    func examples(row: [String]) {
        #expect(JID.escapeLocalpart(row[0]) == row[1])
        #expect(JID.unescapeLocalpart(row[1]) == row[0])
    }

    @Test("a name neither starts nor ends with a space (XEP-0106 §4.2)", arguments: [" a", "a ", " "])
    func edges(name: String) {
        #expect(JID.escapeLocalpart(name) == nil)
    }

    @Test(
        "an escaped space at an edge stays as it is (XEP-0106 §4.2)",
        arguments: ["\\20a", "a\\20", "\\20", "\\2", "\\"])
    func escapedEdges(localpart: String) {
        #expect(JID.unescapeLocalpart(localpart) == localpart)
    }

    @Test("unescaping what was escaped gives the name again, and the escaped name is a localpart")
    func roundTrip() throws {
        var generator = SeededGenerator(seed: 106)
        let alphabet = Array("\\\\\\2056cC3aefb4 \"&'/:<>@é")
        for _ in 0..<20_000 {
            let name = String(
                (0..<Int.random(in: 1...12, using: &generator)).map { _ in
                    alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
                })
            guard let escaped = JID.escapeLocalpart(name) else { continue }
            #expect(JID.unescapeLocalpart(escaped) == name)
            #expect(try JID(localpart: escaped, domainpart: "example.org").localpart == escaped.lowercased())
        }
    }
}
