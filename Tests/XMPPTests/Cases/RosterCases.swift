// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPP
import XMPPCore
import XMPPTestSupport
import XMPPXML

@Suite("Rosters that changed by themselves, or did not change")
struct RosterCases {
    @Test("contacts neither appear nor vanish on a stranger's or a contact's word (RFC 6121 §2.1.6)")
    func foreignPush() async throws {
        let scene = try await Scene(
            """
            #! prelude online
            <iq type='set' id='evil1' from='mallory@evil.example/x' to='juliet@example.org/balcony'><query xmlns='jabber:iq:roster'><item jid='mallory@evil.example' name='Romeo' subscription='both'/></query></iq>
            <iq type='set' id='evil2' from='nurse@example.org/x'><query xmlns='jabber:iq:roster'><item jid='romeo@example.net' subscription='remove'/></query></iq>
            """)
        #expect(scene.rosterChanges.isEmpty)
        #expect(await scene.stream.contacts?.count == 2)
        #expect(try await scene.replies().allSatisfy { $0["type"] == "error" })
        await scene.close()
    }

    @Test("a contact that the server removes is gone")
    func removed() async throws {
        let scene = try await Scene(
            """
            #! prelude online
            <presence from='romeo@example.net/orchard'/>
            #! one-write
            <iq type='set' id='rm1'><query xmlns='jabber:iq:roster'><item jid='romeo@example.net' subscription='remove'/></query></iq>
            <presence from='romeo@example.net/orchard' type='unsubscribed'/>
            <presence from='romeo@example.net/orchard' type='unavailable'/>
            """)
        #expect(scene.comings == ["+romeo@example.net", "-romeo@example.net"])
        #expect(await scene.stream.contacts?.map(\.jid.description) == ["nurse@example.org"])
        #expect(try await scene.replies().map { $0["type"] } == ["result"])
        await scene.close()
    }

    @Test("contacts of every state are there, and nobody is online yet")
    func everyState() async throws {
        let scene = try await Scene(
            """
            #! prelude bound
            #! await jabber:iq:roster
            <iq type='result' id='{id}'><query xmlns='jabber:iq:roster'><item jid='a@example.org' subscription='none'/><item jid='b@example.org' subscription='none' ask='subscribe'/><item jid='c@example.org' subscription='from' ask='subscribe'/><item jid='d@example.org' subscription='both'/><item jid='e@example.org'/><item jid='@@@' subscription='both'/></query></iq>
            #! await <presence
            """)
        let contacts = try #require(await scene.stream.contacts).sorted { $0.jid < $1.jid }
        #expect(contacts.map { $0.jid.localpart } == ["a", "b", "c", "d", "e"], "one that is no address hides none")
        #expect(contacts.map(\.isAsking) == [false, true, true, false, false])
        #expect(contacts.map(\.subscription) == [.none, .none, .from, .both, .none])
        #expect(await scene.stream.buddies.isEmpty)
        await scene.close()
    }

    @Test("names come back as they were sent, however many ampersands they have")
    func names() async throws {
        let scene = try await Scene(
            """
            #! prelude online
            <iq type='set' id='p1'><query xmlns='jabber:iq:roster'><item jid='joey@example.org' name='Joey &amp; Co &amp;amp; &lt;x&gt;' subscription='both'/></query></iq>
            <iq type='set' id='p2'><query xmlns='jabber:iq:roster'><item jid='joey@example.org' name='Joey &amp; Co &amp;amp; &lt;x&gt;' subscription='both'><group>A&amp;B / "C"</group></item></query></iq>
            """)
        let joey = try #require(await scene.stream.contact(JID("joey@example.org")))
        #expect(joey.name == "Joey & Co &amp; <x>" && joey.groups == ["A&B / \"C\""])
        let rename = Task { try await scene.stream.setRosterItem(joey.jid, name: joey.name, groups: joey.groups) }
        let request = try Element.parse(try await scene.server.next(containing: "joey@example.org"))
        let item = try #require(request.firstChild("query", namespace: Namespace.roster)?.children.first)
        #expect(item["name"] == joey.name && item.children.map(\.text) == joey.groups)
        rename.cancel()
        _ = await rename.result
        await scene.close()
    }

    @Test("after a reconnect the roster is what the server says now")
    func changedWhileAway() async throws {
        let server = try ScriptedServer(usesTLS: false)
        let script = try StreamScript(
            text: """
                #! prelude online
                #! fin
                #! reconnect bound
                #! await jabber:iq:roster
                <iq type='result' id='{id}'><query xmlns='jabber:iq:roster'><item jid='nurse@example.org' subscription='to'/></query></iq>
                """)
        let played = Task { try await server.play(script) }
        let roster = RosterStore()
        for _ in 0..<2 {
            let tape = EventTape()
            var configuration = server.configuration
            configuration.observer = StreamObserver(event: { tape.note($0) })
            let stream = XMPPStream(configuration)
            try await stream.connect()
            await roster.stream(stream, didUpdateRoster: try await stream.goOnline())
            if roster.items.count == 2 {
                await tape.wait { $0.contains { if case .disconnected = $0 { true } else { false } } }
            } else {
                await stream.disconnect()
            }
        }
        try await played.value
        #expect(roster.items.map(\.jid.description) == ["nurse@example.org"])
        #expect(roster.items.first?.subscription == .to)
    }
}
