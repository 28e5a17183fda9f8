// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore
import XMPPTestSupport
import XMPPXML

@testable import XMPP

@Suite("What a stranger can make the client say", .serialized)
struct StrangerTests {
    private static let sender = "mallory@evil.example/x"

    /// Payloads that ask for something, announce something, or pretend to.
    private static let payloads = [
        "<ping xmlns='urn:xmpp:ping'/>", "<query xmlns='jabber:iq:version'/>", "<query xmlns='jabber:iq:last'/>",
        "<time xmlns='urn:xmpp:time'/>", "<query xmlns='http://jabber.org/protocol/disco#info'/>",
        "<query xmlns='http://jabber.org/protocol/disco#items'/>", "<query xmlns='jabber:iq:roster'/>",
        "<query xmlns='jabber:iq:roster'><item jid='eve@evil.example' subscription='both'/></query>",
        "<vCard xmlns='vcard-temp'/>", "<query xmlns='jabber:iq:private'><x xmlns='a:b'/></query>",
        "<command xmlns='http://jabber.org/protocol/commands' node='x' action='execute'/>",
        "<bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/>", "<session xmlns='urn:ietf:params:xml:ns:xmpp-session'/>",
        "<enable xmlns='urn:xmpp:carbons:2'/>", "<jingle xmlns='urn:xmpp:jingle:1' action='session-initiate' sid='1'/>",
        "<request xmlns='urn:xmpp:receipts'/>", "<received xmlns='urn:xmpp:receipts' id='1'/>",
        "<markable xmlns='urn:xmpp:chat-markers:0'/>", "<composing xmlns='http://jabber.org/protocol/chatstates'/>",
        "<c xmlns='http://jabber.org/protocol/caps' hash='sha-1' node='urn:n' ver='dmVy'/>",
        "<x xmlns='jabber:x:conference' jid='trap@muc.evil.example'/>", "<attention xmlns='urn:xmpp:attention:0'/>",
        "<event xmlns='http://jabber.org/protocol/pubsub#event'><items node='urn:xmpp:bookmarks:1'/></event>",
        "<x xmlns='http://jabber.org/protocol/rosterx'><item action='add' jid='eve@evil.example'/></x>",
        "<body>?OTRv23? hello</body>", "",
    ]

    private static let kinds: [(name: String, types: [String])] = [
        ("iq", ["get", "set", "result", "error", "push", ""]),
        ("message", ["chat", "normal", "headline", "groupchat", "error", "odd", ""]),
        (
            "presence",
            ["", "unavailable", "subscribe", "subscribed", "unsubscribe", "unsubscribed", "probe", "error", "odd"]
        ),
    ]

    /// A shape of a stanza, chosen by chance.
    private static func shape(_ number: Int, _ random: inout SeededGenerator) -> String {
        let kind = kinds[number % kinds.count]
        let type = kind.types.randomElement(using: &random) ?? ""
        let count = [0, 1, 1, 1, 1, 2].randomElement(using: &random) ?? 1
        let children = (0..<count).map { _ in payloads.randomElement(using: &random) ?? "" }.joined()
        let from = [sender, sender, "mallory@evil.example", "evil.example"].randomElement(using: &random) ?? sender
        let to = ["romeo@example.net/orchard", "romeo@example.net", ""].randomElement(using: &random) ?? ""
        let attributes =
            (type.isEmpty ? "" : " type='\(type)'") + (to.isEmpty ? "" : " to='\(to)'")
            + (Bool.random(using: &random) ? " id='s\(number)'" : "")
        return "<\(kind.name) from='\(from)'\(attributes)>\(children)</\(kind.name)>"
    }

    @Test(
        "nothing but that there is no such service, whatever is sent (RFC 6120 §8.2.3, §13.10.2)",
        arguments: [1, 2, 3, 4, 5] as [UInt64])
    func shapes(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let session = try await SessionRun()
        var answers = 0
        for number in 0..<200 {
            let stanza = Self.shape(number, &random)
            await session.server.forget()
            let outcome = await session.receive(stanza)
            #expect(outcome.isOnline, "\(stanza)")
            #expect(outcome.sent.count <= 1, "\(stanza)")
            for element in outcome.sent {
                answers += 1
                #expect(Self.isRefusal(element, of: try Element.parse(stanza)), "\(stanza) brought \(element)")
            }
        }
        let outcome = await session.receive([])
        #expect(outcome.rosterChanges.isEmpty && outcome.buddies.isEmpty && outcome.receipts.isEmpty)
        #expect(outcome.requests.values.allSatisfy { $0 == "open" })
        #expect(answers > 10, "some of the shapes are requests")
        await session.end()
    }

    @Test("a refusal is the same for a service that there is and for one that there is not")
    func noDifference() async throws {
        let session = try await SessionRun()
        var answers: [Element] = []
        for payload in ["<query xmlns='jabber:iq:version'/>", "<query xmlns='urn:example:none'/>"] {
            await session.server.forget()
            answers += await session.receive("<iq type='get' id='a' from='\(Self.sender)'>\(payload)</iq>").sent
        }
        try #require(answers.count == 2)
        #expect(answers[0].attributes == answers[1].attributes)
        let errors = answers.compactMap { $0.firstChild("error", namespace: Namespace.client) }
        #expect(errors.count == 2 && errors[0] == errors[1])
        await session.end()
    }

    /// Whether an element says no and nothing else to whoever asked.
    private static func isRefusal(_ element: Element, of stanza: Element) -> Bool {
        guard let answer = try? IQ(element), answer.kind == .error, let error = answer.error,
            stanza.localName == "iq", !["result", "error"].contains(stanza["type"] ?? "")
        else { return false }
        return (error.condition == .serviceUnavailable || error.condition == .badRequest)
            && error.text == nil && answer.to?.description == stanza["from"] && answer.id == stanza["id"]
    }
}
