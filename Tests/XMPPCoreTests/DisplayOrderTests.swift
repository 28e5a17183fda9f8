// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore

@Suite("The order of lists for people")
struct DisplayOrderTests {
    @Test("by name whatever its case, by address where there is no name or the same one")
    func order() throws {
        let rows = [
            ("b@example.org", "Romeo"), ("z@example.org", "juliet"), ("a@example.org", "romeo"), ("m@example.org", nil),
            ("c@example.org", "Juliet"), ("k@example.org", ""),
        ]
        let items = try rows.map { RosterItem(jid: try JID($0.0), name: $0.1, subscription: .both) }
        #expect(
            items.inDisplayOrder().map(\.jid.localpart) == ["c", "z", "k", "m", "a", "b"])
    }
}
