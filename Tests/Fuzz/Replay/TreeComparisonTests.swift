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
}
