// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore
import XMPPXML

@testable import XMPP

@Suite("How far roster pushes can go (RFC 6120 §13.12)")
struct ContactTableTests {
    private func item(_ number: Int, name: String? = nil) throws -> RosterItem {
        RosterItem(jid: try JID("c\(number)@example.org"), name: name, subscription: .both)
    }

    @Test("they add up to 20,000 contacts, and not one more; those that are there can change all the same")
    func number() throws {
        let maximum = ContactTable.maximumContacts
        var table = ContactTable(try (0..<maximum - 1).map { try item($0) })
        var isKept = table.update(try item(maximum - 1))
        #expect(isKept)
        let more = try item(maximum)
        isKept = table.update(more)
        #expect(!isKept && table[more.jid] == nil && table.all.count == maximum)
        isKept = table.update(try item(7, name: "Seven"))
        let seven = try JID("c7@example.org/x")
        #expect(isKept && table[seven]?.name == "Seven")
        table.remove(seven)
        isKept = table.update(more)
        #expect(isKept)
    }

    @Test("they add up to 16 MiB of addresses, names and groups; one that would be longer is no contact any more")
    func bytes() throws {
        var table = ContactTable()
        let name = String(repeating: "x", count: 1_048_576)
        let first = try item(0, name: name)
        var rest = ContactTable.maximumBytes
        var number = 0
        while rest > first.storedBytes {
            let item = try item(number, name: name)
            let isKept = table.update(item)
            #expect(isKept)
            rest -= item.storedBytes
            number += 1
        }
        let empty = try item(number)
        let fitting = try item(number, name: String(repeating: "x", count: rest - empty.storedBytes))
        #expect(fitting.storedBytes == rest)
        // As long as before, and shorter, is welcome also where all is full.
        for item in [fitting, fitting, try item(3), try item(3, name: name)] {
            let isKept = table.update(item)
            #expect(isKept && table[item.jid] == item)
        }
        var isKept = table.update(try item(number, name: (fitting.name ?? "") + "x"))
        #expect(!isKept && table[empty.jid] == nil, "what was known of it is not so any more")
        isKept = table.update(fitting)
        #expect(isKept)
    }

    @Test("what a push cannot add makes a roster that is kept unfit for the next session, until it comes whole")
    func known() async throws {
        let store = RosterStore()
        let stream = XMPPStream(XMPPConfiguration(jid: try JID("romeo@example.net"), password: "secret"))
        let all = try (0..<ContactTable.maximumContacts).map { try item($0) }
        await store.stream(stream, didUpdateRoster: .received(all, version: "1"))
        #expect(store.known?.version == "1")
        await store.stream(stream, didUpdateRoster: .changed(.updated(try item(-1)), version: "2"))
        let added = try JID("c-1@example.org")
        #expect(store.known == nil && store.items.count == all.count && store.item(added) == nil)
        await store.stream(stream, didUpdateRoster: .changed(.removed(all[0].jid), version: "3"))
        #expect(store.known == nil && store.item(all[0].jid) == nil)
        await store.stream(stream, didUpdateRoster: .received([all[1]], version: "4"))
        #expect(store.known == KnownRoster(version: "4", items: [all[1]]))
    }

    @Test("who is left out is not seen online")
    func presence() throws {
        var tracker = PresenceTracker(account: try JID("romeo@example.net"))
        let all = try (0..<ContactTable.maximumContacts).map { try item($0) }
        _ = tracker.received(.received(all, version: nil))
        _ = tracker.received(.changed(.updated(try item(-1)), version: nil))
        for (number, isSeen) in [(1, true), (-1, false)] {
            let presence = try Presence(
                Element.parse("<presence from='c\(number)@example.org/x'/>", defaultNamespace: Namespace.client))
            let transition = tracker.received(presence, now: .now)
            #expect((transition != nil) == isSeen)
        }
    }
}
