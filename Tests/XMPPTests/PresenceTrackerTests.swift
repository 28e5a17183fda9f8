// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore
import XMPPXML

@testable import XMPP

@Suite("Who counts as online")
struct PresenceTrackerTests {
    private let now = DateTime(millisecondsSinceEpoch: 1_700_000_000_000)

    private func tracker(_ contacts: [String]? = ["juliet@example.net"]) throws -> PresenceTracker {
        var tracker = PresenceTracker(account: try JID("romeo@example.net"))
        if let contacts {
            _ = tracker.received(
                .received(try contacts.map { RosterItem(jid: try JID($0), subscription: .both) }, version: nil))
        }
        return tracker
    }

    private func presence(_ from: String, _ content: String = "") throws -> Presence {
        try Presence(
            Element.parse("<presence from='\(from)'>\(content)</presence>", defaultNamespace: Namespace.client))
    }

    @Test("sixty-four resources of a buddy are kept; one more takes the place of the oldest (RFC 6120 §13.12)")
    func resources() throws {
        var tracker = try tracker()
        for number in 0..<65 {
            let time = DateTime(millisecondsSinceEpoch: now.millisecondsSinceEpoch + Int64(number))
            _ = tracker.received(try presence("juliet@example.net/r\(number)"), now: time)
        }
        let resources = tracker.buddy(try JID("juliet@example.net")).resources
        #expect(resources.count == PresenceTracker.maximumResources)
        #expect(Set(resources.map(\.name)) == Set((1...64).map { "r\($0)" }))
    }

    @Test(
        "of a presence of more than 4 KiB that is kept which people see, and of its status the beginning (RFC 6120 §13.12)"
    )
    func longPresence() throws {
        let juliet = try JID("juliet@example.net/balcony")
        let rest = "<show>dnd</show><priority>7</priority><c xmlns='urn:c' node='n'/>"
        let empty = try presence(juliet.description, "<status>_</status>" + rest)
        let room = Presence.maximumKeptBytes - empty.element.storedBytes + 1
        for (length, isKept) in [(room, true), (room + 1, false), (900_000, false)] {
            var tracker = try tracker()
            let sent = try presence(
                juliet.description, "<status>\(String(repeating: "z", count: length))</status>" + rest)
            _ = tracker.received(sent, now: now)
            let kept = try #require(tracker.presence(of: juliet))
            #expect(kept.show == .dnd && kept.priority == 7 && kept.from == juliet && kept.kind == .available)
            #expect((kept == sent) == isKept)
            #expect(kept.element.storedBytes <= Presence.maximumKeptBytes)
            let status = String(repeating: "z", count: isKept ? length : Presence.maximumKeptStatus)
            #expect(kept.status == status + (isKept ? "" : "…"))
        }
    }

    @Test("a letter of a million marks is a million characters")
    func longLetter() throws {
        let letter = "a" + String(repeating: "\u{301}", count: 400_000)
        let kept = try presence("juliet@example.net/x", "<status>\(letter)</status>").kept
        #expect(kept.element.storedBytes <= Presence.maximumKeptBytes)
    }

    @Test("resources are in the order that a buddy puts them in, however they come and go")
    func order() throws {
        var tracker = try tracker()
        var generator = TestGenerator(state: 1)
        for number in 0..<2_000 {
            let name = "juliet@example.net/r\(generator.next() % 20)"
            let time = DateTime(millisecondsSinceEpoch: now.millisecondsSinceEpoch + Int64(generator.next() % 50))
            if generator.next() % 5 == 0 {
                _ = tracker.received(
                    try Presence(
                        Element.parse(
                            "<presence from='\(name)' type='unavailable'/>", defaultNamespace: Namespace.client)),
                    now: time)
            } else {
                let show = ["", "<show>away</show>", "<show>chat</show>", "<show>dnd</show>"][Int(generator.next() % 4)]
                _ = tracker.received(
                    try presence(name, "<priority>\(generator.next() % 3)</priority>\(show)"), now: time)
            }
            let buddy = tracker.buddy(try JID("juliet@example.net"))
            #expect(buddy == Buddy(jid: buddy.jid, resources: buddy.resources.shuffled()), "after \(number)")
        }
    }

    @Test("before the roster is known, no more than a thousand are kept (RFC 6120 §13.12)")
    func unknown() throws {
        var tracker = try tracker(nil)
        for number in 0...PresenceTracker.maximumUnknownContacts {
            let transition = tracker.received(try presence("b\(number)@example.org/x"), now: now)
            #expect((transition == nil) == (number == PresenceTracker.maximumUnknownContacts))
        }
        #expect(tracker.buddies.count == PresenceTracker.maximumUnknownContacts)
    }

    @Test("the own account is no buddy, not even where it is in the own roster (RFC 6121 §4.2.2)")
    func oneself() throws {
        var tracker = try tracker(["romeo@example.net", "juliet@example.net"])
        #expect(tracker.received(try presence("romeo@example.net/other"), now: now) == nil)
        #expect(tracker.buddies.isEmpty)
    }

    @Test("a time in the future is now (XEP-0203 §4)")
    func future() throws {
        var tracker = try tracker()
        let delay = "<delay xmlns='urn:xmpp:delay' stamp='2999-01-01T00:00:00Z'/>"
        _ = tracker.received(try presence("juliet@example.net/x", delay), now: now)
        #expect(tracker.buddy(try JID("juliet@example.net")).best?.since == now)
        let past = "<delay xmlns='urn:xmpp:delay' stamp='2002-09-10T23:08:25Z'/>"
        _ = tracker.received(try presence("juliet@example.net/x", past), now: now)
        #expect(tracker.buddy(try JID("juliet@example.net")).best?.since == DateTime("2002-09-10T23:08:25Z"))
    }
}

/// The same numbers in every run.
private struct TestGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 33
    }
}
