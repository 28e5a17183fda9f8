// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore
import XMPPTestSupport

@Suite("Moments (XEP-0082)")
struct DateTimeTests {
    @Test("the DateTime profile is read, and nothing else", arguments: try VectorFile.rows("datetime.tsv"))
    func vectors(cells: [String]) throws {
        try #require(cells.count >= 2)
        #expect(DateTime(cells[0])?.millisecondsSinceEpoch == Int64(cells[1]), "\(cells)")
    }

    @Test("the table is there")
    func table() throws {
        #expect(try VectorFile.rows("datetime.tsv").count > 25)
    }

    @Test("what is written is read back, from the first year to the last")
    func roundTrip() {
        var moment = DateTime("0001-01-01T00:00:00Z")?.millisecondsSinceEpoch ?? 0
        let last = DateTime("9999-12-31T23:59:59.999Z")?.millisecondsSinceEpoch ?? 0
        while moment <= last {
            let written = DateTime(millisecondsSinceEpoch: moment).description
            #expect(DateTime(written)?.millisecondsSinceEpoch == moment, "\(written)")
            moment += 40_271_234_567
        }
    }

    @Test(
        "moments that four digits cannot hold are written as the nearest that they can", arguments: [Int64.min, .max])
    func extremes(milliseconds: Int64) {
        let text = DateTime(millisecondsSinceEpoch: milliseconds).description
        #expect(text == (milliseconds < 0 ? "0001-01-01T00:00:00.000Z" : "9999-12-31T23:59:59.999Z"))
    }
}
