// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCrypto
import XMPPTestSupport

@testable import XMPP

private let rsm = "xmlns='http://jabber.org/protocol/rsm'"
private let commands = "xmlns='http://jabber.org/protocol/commands'"

/// Rows of extensions that ask and answer.
let serviceRows = [
    PayloadRow("XEP-0059 §2.1", ResultSetRequest(maximum: 10), "<set \(rsm)><max>10</max></set>"),
    PayloadRow(
        "XEP-0059 §2.2", ResultSetRequest(maximum: 10, .after("a1")),
        "<set \(rsm)><max>10</max><after>a1</after></set>"),
    PayloadRow("XEP-0059 §2.3", ResultSetRequest(.before("a1")), "<set \(rsm)><before>a1</before></set>"),
    PayloadRow("XEP-0059 §2.5", ResultSetRequest(.end), "<set \(rsm)><before/></set>"),
    PayloadRow("XEP-0059 §2.6", ResultSetRequest(.index(371)), "<set \(rsm)><index>371</index></set>"),
    PayloadRow(
        "XEP-0059 §2.1", ResultSet(first: "a", index: 0, last: "b", count: 800),
        "<set \(rsm)><first index='0'>a</first><last>b</last><count>800</count></set>"),
    PayloadRow("XEP-0059 §2.7", ResultSet(count: 0), "<set \(rsm)><count>0</count></set>"),
    PayloadRow(
        "XEP-0012 §3", LastActivity(elapsed: .seconds(903), status: "Heading Home"),
        "<query xmlns='jabber:iq:last' seconds='903'>Heading Home</query>", required: ["seconds"]),
    PayloadRow(
        "XEP-0202 §3", EntityTime(DateTime(millisecondsSinceEpoch: 1_166_550_716_000), offsetMinutes: -360),
        "<time xmlns='urn:xmpp:time'><tzo>-06:00</tzo><utc>2006-12-19T17:51:56.000Z</utc></time>"),
    PayloadRow(
        "XEP-0319 §3", LastUserInteraction(since: DateTime(millisecondsSinceEpoch: 0)),
        "<idle xmlns='urn:xmpp:idle:1' since='1970-01-01T00:00:00.000Z'/>", required: ["since"]),
    PayloadRow(
        "XEP-0115 §4", EntityCapabilities(node: "urn:x", hash: "sha-1", verification: "abc="),
        "<c xmlns='http://jabber.org/protocol/caps' hash='sha-1' node='urn:x' ver='abc='/>",
        required: ["hash", "node", "ver"]),
    PayloadRow(
        "XEP-0390 §5.4",
        CapabilityHashSet([.init(algorithm: "sha-256", value: "kz="), .init(algorithm: "sha3-256", value: "79=")]),
        "<c xmlns='urn:xmpp:caps'><hash xmlns='urn:xmpp:hashes:2' algo='sha-256'>kz=</hash>"
            + "<hash xmlns='urn:xmpp:hashes:2' algo='sha3-256'>79=</hash></c>"),
    PayloadRow(
        "XEP-0050 §3.4",
        AdHocCommand(
            "config", sessionID: "s1", status: .executing, actions: [.next, .complete], defaultAction: .next,
            notes: [.init("Mind", kind: "warn")], form: DataForm(.form)),
        "<command \(commands) node='config' sessionid='s1' status='executing'><actions execute='next'><complete/><next/>"
            + "</actions><note type='warn'>Mind</note><x xmlns='jabber:x:data' type='form'/></command>",
        required: ["node"]),
    PayloadRow(
        "XEP-0050 §2.4", AdHocCommand("list", action: .execute), "<command \(commands) node='list' action='execute'/>",
        required: ["node"]),
    PayloadRow(
        "XEP-0203 §3",
        DelayedDelivery(stamp: DateTime(millisecondsSinceEpoch: 0), from: try? JID("example.org"), reason: "Offline"),
        "<delay xmlns='urn:xmpp:delay' stamp='1970-01-01T00:00:00.000Z' from='example.org'>Offline</delay>",
        required: ["stamp"]),
]

@Suite("Extensions that ask and answer")
struct ServiceExtensionTests {
    @Test(
        "what makes no sense in an answer makes it none",
        arguments: [
            ("<query xmlns='jabber:iq:last' seconds='-1'/>", false),
            ("<query xmlns='jabber:iq:last' seconds='99999999999999999999'/>", false),
            ("<query xmlns='jabber:iq:last' seconds='9223372036854775807'/>", true),
        ])
    func lastActivity(xml: String, isRead: Bool) throws {
        let activity = LastActivity(try Element.parse(xml))
        #expect((activity != nil) == isRead)
        if let activity { #expect(activity.element.description == xml) }
    }

    @Test(
        "a time zone is one of XEP-0082 §3.3",
        arguments: [
            ("+05:30", 330), ("-00:15", -15), ("Z", 0), ("+24:00", nil), ("+05:60", nil), ("05:30", nil),
            ("+5:30", nil),
            ("+0５:3", nil), ("", nil),
        ] as [(String, Int?)])
    func zone(text: String, minutes: Int?) throws {
        let xml = "<time xmlns='urn:xmpp:time'><tzo>\(text)</tzo><utc>2006-12-19T17:58:35Z</utc></time>"
        #expect(EntityTime(try Element.parse(xml))?.offsetMinutes == minutes)
    }

    @Test("the page behind an empty one is none: the list has ended (XEP-0059 §2.2)")
    func paging() throws {
        #expect(ResultSet(first: "a", last: "b").next(maximum: 5) == ResultSetRequest(maximum: 5, .after("b")))
        #expect(ResultSet(count: 3).next() == nil)
        let halves = ["<first>a</first>", "<last>a</last>"]
        for half in halves {
            let xml = "<set xmlns='http://jabber.org/protocol/rsm'>\(half)</set>"
            #expect(ResultSet(try Element.parse(xml)) == nil)
        }
        let odd = "<set xmlns='http://jabber.org/protocol/rsm'><count>-4</count></set>"
        #expect(ResultSet(try Element.parse(odd)) == ResultSet())
    }

    @Test("a validation has one method, a step of a command an action that exists")
    func malformed() throws {
        let two =
            "<validate xmlns='http://jabber.org/protocol/xdata-validate'><basic/><regex>a</regex></validate>"
        #expect(FieldValidation(try Element.parse(two)) == nil)
        for attribute in ["action='fly'", "status='flying'"] {
            let xml = "<command xmlns='http://jabber.org/protocol/commands' node='a' \(attribute)/>"
            #expect(AdHocCommand(try Element.parse(xml)) == nil)
        }
    }

    @Test("a contact is told the time, and not where the user is (XEP-0202 §6)")
    func answersTime() async throws {
        let session = try await SessionRun()
        let outcome = await session.receive(
            "<iq type='get' id='t' from='juliet@example.com/b'><time xmlns='urn:xmpp:time'/></iq>"
                + "<iq type='get' id='u' from='mallory@evil.example/b'><time xmlns='urn:xmpp:time'/></iq>")
        let answers = outcome.sent.compactMap { try? IQ($0) }
        #expect(answers.map(\.kind) == [.result, .error])
        #expect(answers.first?.payload(EntityTime.self)?.offsetMinutes == 0)
        await session.end()
    }

    @Test("what the presence of this client claims is what it answers (XEP-0115 §5.4, XEP-0390 §4.4)")
    func ownClaims() async throws {
        let session = try await SessionRun()
        let presence = await session.stream.withCapabilities(Presence())
        let claims = CapabilityClaim.claims(of: presence)
        #expect(claims.map(\.rules) == [.entityCapabilities2, .entityCapabilities])
        for claim in claims {
            let outcome = await session.receive(
                "<iq type='get' id='\(claim.rules)' from='juliet@example.com/b'>"
                    + "<query xmlns='http://jabber.org/protocol/disco#info' node='\(claim.node)'/></iq>")
            let answer = try #require(outcome.sent.last?.firstChild("query", namespace: DiscoveryInformation.namespace))
            #expect(answer["node"] == claim.node)
            #expect(claim.isMet(by: try #require(DiscoveryInformation(answer))))
        }
        await session.end()
    }
}
