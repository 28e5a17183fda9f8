// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPP
import XMPPCore
import XMPPXML

@Suite("Messages that users missed, or saw where there was nothing to see")
struct MessageCases {
    @Test("no empty line appears while somebody types, and the real one does")
    func typing() async throws {
        let scene = try await Scene(
            """
            #! prelude online
            <message from='romeo@example.net/o' type='chat'><composing xmlns='http://jabber.org/protocol/chatstates'/></message>
            <message from='romeo@example.net/o'/>
            <message from='romeo@example.net/o' type='chat'><body/></message>
            <message from='romeo@example.net/o' type='chat'><body>real</body></message>
            """)
        // An empty body is a line without text: the application has it, and shows it or not.
        #expect(scene.bodies == ["", "real"])
        #expect(scene.messages.count == 4, "what has no body is still there for who looks for more than text")
        #expect(try await scene.replies().isEmpty)
        await scene.close()
    }

    @Test("an offline message has the time it was written, in every way that servers write it (XEP-0203, XEP-0091)")
    func offlineMessages() async throws {
        let scene = try await Scene(
            """
            #! prelude online
            <message from='romeo@example.net/o' type='chat'><body>a</body><x xmlns='jabber:x:delay' from='example.net' stamp='20121106T18:18:11'/></message>
            <message from='romeo@example.net/o' type='chat'><body>b</body><delay xmlns='urn:xmpp:delay' from='example.org' stamp='2012-11-06T18:18:11.5Z'/></message>
            <message from='romeo@example.net/o' type='chat'><body>c</body><delay xmlns='urn:xmpp:delay' stamp='garbage'/></message>
            <message from='romeo@example.net/o' type='chat'><body>d</body><x xmlns='jabber:x:delay' stamp='2012110６T18:18:1'/></message>
            <message from='romeo@example.net/o' type='chat'><body>e</body><x xmlns='jabber:x:delay' stamp='20121306T18:18:11'/></message>
            """)
        #expect(scene.bodies == ["a", "b", "c", "d", "e"])
        let stamps = scene.messages.map { $0.delay?.stamp }
        try #require(stamps.count == 5)
        #expect(stamps[0] == DateTime("2012-11-06T18:18:11Z") && stamps[1] == DateTime("2012-11-06T18:18:11.5Z"))
        #expect(stamps[2...].allSatisfy { $0 == nil }, "an unusable stamp is none; the message is there")
        await scene.close()
    }

    @Test("a message that bounces is a failure with its reason, not a message from the contact (RFC 6120 §8.3)")
    func bounce() async throws {
        let scene = try await Scene(
            """
            #! prelude online
            #! await <message
            <message type='error' id='{id}' from='romeo@example.net' to='juliet@example.org/balcony'><body>hello</body><error type='cancel'><service-unavailable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/><text xmlns='urn:ietf:params:xml:ns:xmpp-stanzas' xml:lang='en'>user offline</text></error></message>
            """
        ) { stream in
            _ = try await stream.send(Message(to: JID("romeo@example.net"), body: "hello", id: "m1"))
        }
        let bounces = scene.tape.events.compactMap { event in
            if case .messageBounced(let message, let error) = event { (message.id, error) } else { nil }
        }
        let (id, error) = try #require(bounces.first)
        #expect(bounces.count == 1 && id == "m1")
        #expect(error.condition == .serviceUnavailable && error.text == "user offline")
        #expect(scene.messages.isEmpty)
        await scene.close()
    }

    @Test("words put into a contact's mouth by a stranger are not shown (XEP-0280 §11)")
    func forgedCarbon() async throws {
        let carbon = { (from: String, body: String) in
            "<message from='\(from)' to='juliet@example.org/balcony'><received xmlns='urn:xmpp:carbons:2'>"
                + "<forwarded xmlns='urn:xmpp:forward:0'><message xmlns='jabber:client' from='romeo@example.net/o'"
                + " to='juliet@example.org/phone' type='chat'><body>\(body)</body></message></forwarded></received>"
                + "</message>"
        }
        let scene = try await Scene(
            "#! prelude online\n" + carbon("mallory@evil.example/x", "send money") + "\n"
                + carbon("juliet@example.org", "genuine"))
        #expect(scene.bodies.isEmpty)
        let copies = scene.tape.events.compactMap { if case .carbon(let carbon) = $0 { carbon } else { nil } }
        #expect(copies.map(\.message.body) == ["genuine"] && copies.first?.direction == .received)
        #expect(try await scene.replies().isEmpty)
        await scene.close()
    }

    @Test("a reply goes to the client that wrote, and once that has gone to the bare address (RFC 6121 §5.1)")
    func replies() async throws {
        let scene = try await Scene(
            """
            #! prelude online
            #! await ready
            <presence from='romeo@example.net/orchard'/>
            <message from='romeo@example.net/orchard' type='chat'><body>hi</body><thread>t1</thread></message>
            <message from='stranger@example.com/x' type='chat'><body>who are you?</body></message>
            #! await first
            <presence from='romeo@example.net/orchard' type='unavailable'/><presence from='romeo@example.net/phone'/>
            <message from='example.org'><body>he has gone</body></message>
            #! await fourth
            """
        ) { stream in
            var messages = stream.messages.makeAsyncIterator()
            try await stream.send(Message(to: JID("nurse@example.net"), body: "ready"))
            let message = try #require(try await messages.next())
            let stranger = try #require(try await messages.next())
            try await stream.reply("first", to: message)
            _ = try await messages.next()
            try await stream.reply("second", to: message)
            // Nobody tells whether he is still there.
            try await stream.reply("third", to: stranger)
            try await stream.reply("fourth", to: message)
        }
        let sent = try await scene.replies().map { try Message($0) }.dropFirst()
        #expect(sent.map(\.body) == ["first", "second", "third", "fourth"])
        let bare = "romeo@example.net"
        #expect(sent.map { $0.to?.description } == ["\(bare)/orchard", bare, "stranger@example.com/x", bare])
        #expect(sent.map(\.thread) == ["t1", "t1", nil, "t1"])
        await scene.close()
    }

    @Test("errors in every state of disrepair end nothing (RFC 6120 §8.3.2)")
    func oddErrors() async throws {
        let scene = try await Scene(
            """
            #! prelude online
            <message type='error' from='romeo@example.net/o'/>
            <message type='error' from='romeo@example.net/o' id='x1'><error/></message>
            <message type='error' id='x2'><error code='404'/></message>
            <iq type='error' from='example.org'/>
            <presence type='error' from='romeo@example.net'><error type='wait'><custom xmlns='urn:example:err'/></error></presence>
            """)
        let conditions = scene.tape.events.compactMap { event in
            if case .messageBounced(_, let error) = event { error.condition } else { nil }
        }
        #expect(conditions == [.undefinedCondition, .undefinedCondition, .undefinedCondition])
        #expect(scene.end == nil && scene.messages.isEmpty)
        #expect(try await scene.replies().isEmpty, "an error is never answered")
        await scene.close()
    }

    @Test("a request that nobody here understands is answered at once (RFC 6120 §8.2.3)")
    func unknownRequests() async throws {
        let scene = try await Scene(
            """
            #! prelude online
            <iq type='get' id='q1' from='romeo@example.net/o'><query xmlns='urn:example:unknown'/></iq>
            <iq type='set' id='q2' from='romeo@example.net/o'><query xmlns='jabber:iq:register'/></iq>
            <iq type='get' id='q3' from='romeo@example.net/o'/>
            <iq type='frob' id='q4' from='romeo@example.net/o'><a xmlns='urn:example:unknown'/></iq>
            """)
        let answers = try await scene.replies().map { try IQ($0) }
        #expect(answers.map(\.id) == ["q1", "q2", "q3", "q4"])
        #expect(answers.allSatisfy { $0.to?.description == "romeo@example.net/o" && $0.kind == .error })
        let conditions = answers.map { $0.error?.condition }
        #expect(conditions == [.serviceUnavailable, .serviceUnavailable, .badRequest, .badRequest])
        #expect(answers.first?.error?.kind == .cancel)
        await scene.close()
    }

    @Test("the server's pings are answered, with and without its name (XEP-0199)")
    func serverPing() async throws {
        let scene = try await Scene(
            """
            #! prelude online
            <iq type='get' id='sp1' from='example.org' to='juliet@example.org/balcony'><ping xmlns='urn:xmpp:ping'/></iq>
            <iq type='get' id='sp2'><ping xmlns='urn:xmpp:ping'/></iq>
            """)
        let answers = try await scene.replies()
        #expect(answers.map { $0["id"] } == ["sp1", "sp2"])
        #expect(answers.map { $0["type"] } == ["result", "result"])
        #expect(answers.map { $0["to"] } == ["example.org", nil])
        await scene.close()
    }

    @Test("news of the server, and messages from nobody, are shown with a sender (RFC 6120 §8.1.2.1)")
    func serverMessages() async throws {
        let scene = try await Scene(
            """
            #! prelude online
            <message from='example.org' type='headline'><subject>Notice</subject><body>maintenance at 5</body></message>
            <message type='chat'><body>from nobody</body></message>
            """)
        #expect(scene.messages.map { $0.from?.description } == ["example.org", "juliet@example.org"])
        #expect(scene.messages.first?.subject == "Notice")
        await scene.close()
    }

    @Test("a message of a type that nobody has heard of is an ordinary one (RFC 6121 §5.2.2)")
    func oddType() async throws {
        let scene = try await Scene(
            """
            #! prelude online
            <message type='message' from='romeo@example.net/o'><body>odd type</body></message>
            <message type='headline' from='news@example.org'><body>h</body></message>
            """)
        #expect(scene.bodies == ["odd type", "h"])
        #expect(scene.messages.map(\.kind) == [.normal, .headline])
        await scene.close()
    }

    @Test("a message goes to the address that was written, full or bare")
    func addressees() async throws {
        let scene = try await Scene(
            """
            #! prelude online
            #! await two
            """
        ) { stream in
            _ = try await stream.send(Message(to: JID("romeo@example.net/orchard"), body: "one"))
            _ = try await stream.send(Message(to: JID("ROMEO@Example.NET"), body: "two"))
        }
        let sent = try await scene.replies().filter { $0.localName == "message" }
        #expect(sent.map { $0["to"] } == ["romeo@example.net/orchard", "romeo@example.net"])
        await scene.close()
    }
}
