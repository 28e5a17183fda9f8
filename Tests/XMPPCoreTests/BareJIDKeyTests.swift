// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore

@Suite struct BareJIDKeyTests {
    @Test(
        "any address of one account, room or server finds the same, and no address of another does",
        arguments: [
            ("juliet@example.org", "juliet@example.org/balcony", true),
            ("juliet@example.org/a", "juliet@example.org/b", true),
            ("example.org", "example.org/juliet@example.org", true),
            ("juliet@example.org", "julie@texample.org", false),
            ("juliet@example.org", "juliet@example.org.test", false),
            ("juliet@example.org", "example.org/juliet@example.org", false),
            ("example.org", "juliet@example.org", false),
            ("jülia@example.org/é", "jülia@example.org", true),
        ])
    func keys(one: String, other: String, areSame: Bool) throws {
        let (one, other) = (BareJIDKey(try JID(one)), BareJIDKey(try JID(other)))
        #expect((one == other) == areSame)
        #expect((([one: 1])[other] == 1) == areSame)
        #expect(([other: 1][one] == 1) == areSame)
    }

    @Test("the key gives the bare JID")
    func bare() throws {
        #expect(BareJIDKey(try JID("juliet@example.org/balcony")).bare == (try JID("juliet@example.org")))
    }
}
