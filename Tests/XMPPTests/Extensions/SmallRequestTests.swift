// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPP
import XMPPCore
import XMPPXML

@Suite("Requests of one stanza", .timeLimit(.minutes(5)))
struct SmallRequestTests {
    @Test("each asks for what its name says, of whom it concerns, and takes the answer")
    func requests() async throws {
        let scene = try await Scene(
            """
            #! prelude online
            #! await urn:xmpp:blocking
            <iq type='result' id='{id}'/>
            #! await urn:xmpp:carbons:2
            <iq type='result' id='{id}'/>
            #! await jabber:iq:register
            <iq type='result' id='{id}' from='coven@chat.example.org'><query xmlns='jabber:iq:register'><x xmlns='jabber:x:data' type='form'><field var='muc#register_roomnick'/></x></query></iq>
            #! await jabber:iq:register
            <iq type='result' id='{id}' from='coven@chat.example.org'><query xmlns='jabber:iq:register'><registered/></query></iq>
            #! await unsubscribe
            """
        ) { stream in
            let room = try JID("coven@chat.example.org")
            try await stream.unblockEverybody()
            try await stream.disableCarbons()
            let form = try await stream.roomRegistration(in: room)
            #expect(form?.fields.map(\.name) == ["muc#register_roomnick"])
            #expect(try await stream.roomRegistration(in: room) == nil, "a member already")
            try await stream.cancelSubscription(to: JID("romeo@example.net/o"))
        }
        let sent = try await scene.replies()
        try #require(sent.count == 5, "\(sent)")
        let payloads = sent.prefix(4).compactMap { $0.children.first }
        #expect(payloads.map(\.localName) == ["unblock", "disable", "query", "query"])
        #expect(payloads[0].children.isEmpty, "whom it does not name is everybody (XEP-0191 §3.5)")
        #expect(sent.map { $0["type"] } == ["set", "set", "get", "get", "unsubscribe"])
        let room = "coven@chat.example.org"
        // Subscriptions are of bare addresses (RFC 6121 §3.3.2).
        #expect(sent.map { $0["to"] } == [nil, nil, room, room, "romeo@example.net"])
        await scene.close()
    }

    @Test("a request for a subscription is kept until it is answered, or forgotten")
    func subscriptionRequests() async throws {
        let roster = RosterStore()
        let stream = XMPPStream(XMPPConfiguration(jid: try JID("juliet@example.org"), password: "secret"))
        for name in ["romeo", "mercutio"] {
            var request = Presence(.subscribe)
            request.from = try JID("\(name)@example.net")
            await roster.stream(stream, didReceiveSubscriptionRequest: request)
        }
        roster.forgetSubscriptionRequest(of: try JID("romeo@example.net/orchard"))
        #expect(roster.subscriptionRequests.compactMap(\.from?.localpart) == ["mercutio"])
    }
}
