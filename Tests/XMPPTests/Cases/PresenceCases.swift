// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPP
import XMPPCore
import XMPPXML

@Suite("Buddies that were shown wrongly")
struct PresenceCases {
    @Test("a buddy is online while any of its resources is (RFC 6121 §4.5)")
    func twoResources() async throws {
        let scene = try await Scene(
            """
            #! prelude online
            <presence from='romeo@example.net/desk'><priority>1</priority></presence>
            <presence from='romeo@example.net/phone'><show>xa</show><priority>0</priority></presence>
            <presence from='romeo@example.net/phone' type='unavailable'/>
            """)
        #expect(scene.comings == ["+romeo@example.net"])
        let romeo = await scene.stream.buddy(try JID("romeo@example.net"))
        #expect(romeo.resources.map(\.name) == ["desk"] && romeo.best?.presence.show == nil)
        await scene.close()
    }

    @Test("a buddy without a resource comes online and goes offline")
    func noResource() async throws {
        let scene = try await Scene(
            """
            #! prelude online
            <presence to='juliet@example.org/balcony' from='icq.example.org'/>
            <presence from='nurse@example.org'><show>away</show></presence>
            <presence type='unavailable' from='nurse@example.org'/>
            """)
        #expect(scene.comings == ["+nurse@example.org", "-nurse@example.org"])
        await scene.close()
    }

    @Test("neither oneself nor a stranger is a buddy")
    func notBuddies() async throws {
        let scene = try await Scene(
            """
            #! prelude online
            <presence from='juliet@example.org/balcony' to='juliet@example.org/balcony'/>
            <presence from='juliet@example.org/phone'><show>dnd</show></presence>
            <presence from='stranger@example.com/x'/>
            """)
        #expect(scene.comings.isEmpty)
        #expect(await scene.stream.buddies.isEmpty)
        let own = scene.tape.events.contains { event in
            if case .presence(let presence) = event { presence.from?.resourcepart == "phone" } else { false }
        }
        #expect(own, "the own other resources can be seen all the same")
        await scene.close()
    }

    @Test("the first presence has no type, and odd ones bring nobody online (RFC 6121 §4.7.1)")
    func types() async throws {
        let scene = try await Scene(
            """
            #! prelude online
            <presence from='romeo@example.net/o'/>
            <presence from='nurse@example.org/x' type='available'/>
            <presence from='nurse@example.org/y' type='frobnicate'/>
            <presence from='nurse@example.org/z'><show>frobnicate</show></presence>
            """)
        #expect(scene.comings == ["+romeo@example.net", "+nurse@example.org"])
        let nurse = await scene.stream.buddy(try JID("nurse@example.org"))
        #expect(nurse.resources.map(\.name) == ["z"], "an unknown type is ignored, an unknown show is none")
        #expect(nurse.best?.presence.show == nil)
        let presence = try #require(try await scene.sent().first { $0.hasPrefix("<presence") })
        #expect(try Element.parse(presence)["type"] == nil)
        await scene.close()
    }

    @Test("who asks to be a buddy is shown, and answered by nobody but the user (RFC 6121 §3.1.3)")
    func requests() async throws {
        let scene = try await Scene(
            """
            #! prelude online
            <presence type='subscribe' from='mallory@evil.example'><status>add me</status></presence>
            <presence type='subscribe' from='stranger@example.com'/>
            <presence type='subscribe' from='stranger@example.com/again'/>
            """)
        let requests = scene.tape.events.compactMap { event in
            if case .subscriptionRequest(let presence) = event { presence } else { nil }
        }
        #expect(
            requests.map { $0.from?.description }
                == ["mallory@evil.example", "stranger@example.com", "stranger@example.com"])
        #expect(requests.first?.status == "add me")
        #expect(try await scene.replies().isEmpty)
        let roster = RosterStore()
        for request in requests { await roster.stream(scene.stream, didReceiveSubscriptionRequest: request) }
        #expect(roster.subscriptionRequests.count == 2, "once each")
        try await scene.stream.approveSubscription(of: JID("mallory@evil.example/res"))
        try await scene.stream.denySubscription(of: JID("stranger@example.com/again"))
        let answers = try await scene.replies().filter { $0.localName == "presence" }
        #expect(answers.map { $0["to"] } == ["mallory@evil.example", "stranger@example.com"])
        #expect(answers.map { $0["type"] } == ["subscribed", "unsubscribed"])
        await scene.close()
    }

    @Test("presence that comes before the roster is kept, and gets its name from it (RFC 6121 §2.2)")
    func earlyPresence() async throws {
        let scene = try await Scene(
            """
            #! prelude bound
            #! await jabber:iq:roster
            <presence from='romeo@example.net/o'><status>early</status></presence>
            <presence from='stranger@example.com/o'/>
            <iq type='result' id='{id}'><query xmlns='jabber:iq:roster'><item jid='romeo@example.net' name='Romeo' subscription='both'/></query></iq>
            #! await <presence
            <presence from='nurse@example.org/late'/>
            """)
        let buddies = await scene.stream.buddies
        #expect(buddies.map(\.displayName) == ["Romeo"])
        #expect(buddies.first?.best?.presence.status == "early")
        let sent = try await scene.sent()
        let roster = try #require(sent.firstIndex { $0.contains("jabber:iq:roster") })
        let presence = try #require(sent.firstIndex { $0.hasPrefix("<presence") })
        #expect(roster < presence)
        await scene.close()
    }

    @Test("a contact is the same in capital letters, and a resource is not (RFC 7622 §3)")
    func letterCase() async throws {
        let scene = try await Scene(
            """
            #! prelude online
            <presence from='romeo@example.net/Orchard'/>
            <presence from='Romeo@EXAMPLE.net./orchard'/>
            <iq type='get' id='Ab1' from='romeo@example.net/Gajim.XyZ'><ping xmlns='urn:xmpp:ping'/></iq>
            """)
        #expect(scene.comings == ["+romeo@example.net"])
        let romeo = await scene.stream.buddy(try JID("Romeo@EXAMPLE.NET"))
        #expect(romeo.resources.map(\.name).sorted() == ["Orchard", "orchard"])
        let answer = try #require(try await scene.replies().first)
        #expect(answer["to"] == "romeo@example.net/Gajim.XyZ" && answer["id"] == "Ab1")
        await scene.close()
    }
}
