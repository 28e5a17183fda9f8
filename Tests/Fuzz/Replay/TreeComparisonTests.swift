// SPDX-License-Identifier: Apache-2.0

import Testing

@Suite("Our XML and expat's", .timeLimit(.minutes(5)))
struct TreeComparisonTests {
    @Test("What we write, expat reads as it was; of what is spoilt, both make the same", arguments: [1, 2])
    func comparison(seed: UInt64) throws {
        let report = try TreeComparison.run(trees: 2_000, seed: seed)
        #expect(report.disagreements.isEmpty, "\(report.disagreements.prefix(5).joined(separator: "\n"))")
        #expect(report.trees == 2_000)
        // Otherwise nothing was compared.
        #expect(report.spoiltAndRead > 100 && report.spoiltAndRefused > 500)
    }

    @Test("A name that only the fifth edition of XML 1.0 allows is held against neither of us (§2.3)")
    func newNames() throws {
        let documents = [
            "<ns\u{301}😀:x xmlns:ns\u{301}😀='urn:x'/>", "<x a='' 😀='1'/>", "<x><![CDATA[<😀>]]></x>", "<x a='😀>'>😀</x>",
        ]
        let report = try TreeComparison.run(spoilt: documents.map { Array($0.utf8) })
        #expect(report.disagreements.isEmpty, "\(report.disagreements)")
        // The first two, and not those with such characters in text or a value alone.
        #expect(report.excepted == 2 && report.spoiltAndRead == 2)
    }
}
