// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPTestSupport

@testable import XMPP

@Suite("Who may say that a message was sent, received or displayed")
struct MessageRoutingTests {
    private static func carbon(_ direction: String = "received", from: String, inner: String) -> String {
        "<message from='\(from)' to='romeo@example.net/orchard'><\(direction) xmlns='urn:xmpp:carbons:2'>"
            + "<forwarded xmlns='urn:xmpp:forward:0'>\(inner)</forwarded></\(direction)></message>"
    }

    private static let received =
        "<message xmlns='jabber:client' from='juliet@example.com/b' to='romeo@example.net/home' id='c1' type='chat'>"
        + "<body>copy</body><request xmlns='urn:xmpp:receipts'/></message>"
    private static let sent =
        "<message xmlns='jabber:client' from='romeo@example.net/home' to='juliet@example.com' id='c2' type='chat'>"
        + "<body>mine</body></message>"

    @Test("copies come from the own account, and a copy that was received is never acknowledged (XEP-0280 §6, §11)")
    func carbons() async throws {
        let session = try await SessionRun()
        let outcome = await session.receive(
            Self.carbon(from: "romeo@example.net", inner: Self.received)
                + Self.carbon("sent", from: "ROMEO@example.NET", inner: Self.sent)
                + Self.carbon(from: "juliet@example.com", inner: Self.received)
                + Self.carbon(from: "romeo@example.net/home", inner: Self.received)
                + Self.carbon("sent", from: "romeo@example.net", inner: Self.received)
                + Self.carbon(from: "romeo@example.net", inner: Self.sent))
        #expect(outcome.carbons.map(\.direction) == [.received, .sent])
        #expect(outcome.carbons.map(\.message.body) == ["copy", "mine"])
        #expect(outcome.messages.isEmpty && outcome.sent.isEmpty)
        await session.end()
    }

    @Test("receipts and markers for what another client has sent are known too")
    func receiptsForCopies() async throws {
        let session = try await SessionRun()
        let outcome = await session.receive(
            "<message from='juliet@example.com/b'><received xmlns='urn:xmpp:receipts' id='c2'/></message>"
                + Self.carbon("sent", from: "romeo@example.net", inner: Self.sent)
                + "<message from='juliet@example.com/b'><received xmlns='urn:xmpp:receipts' id='c2'/></message>"
                + "<message from='juliet@example.com/b'><displayed xmlns='urn:xmpp:chat-markers:0' id='c2'/></message>"
                + "<message from='mallory@evil.example'><displayed xmlns='urn:xmpp:chat-markers:0' id='c2'/></message>")
        #expect(outcome.receipts == ["c2"] && outcome.displayed == ["c2"])
        await session.end()
    }

    @Test(
        "a receipt goes to who may know that the user is there, once, and to nobody for what needs none (XEP-0184 §5, §8)",
        arguments: [
            ("from='juliet@example.com/b' id='m1' type='chat'", "<body>x</body>", true),
            ("from='juliet@example.com/b' id='m1'", "", true),
            ("from='romeo@example.net/home' id='m1'", "<body>x</body>", true),
            ("from='mallory@evil.example/b' id='m1'", "<body>x</body>", false),
            ("from='juliet@example.com/b'", "<body>x</body>", false),
            ("from='juliet@example.com/b' id='m1' type='groupchat'", "<body>x</body>", false),
            ("from='juliet@example.com/b' id='m1' type='error'", "<body>x</body>", false),
            ("from='juliet@example.com/b' id='m1'", "<received xmlns='urn:xmpp:receipts' id='m0'/>", false),
        ])
    func receipts(attributes: String, content: String, isSent: Bool) async throws {
        let session = try await SessionRun()
        let outcome = await session.receive(
            "<message \(attributes)><request xmlns='urn:xmpp:receipts'/>\(content)</message>")
        let receipts = outcome.sent.compactMap { try? Message($0) }
        #expect(receipts.map(\.receivedReceiptID) == (isSent ? ["m1"] : []))
        #expect(receipts.allSatisfy { $0.body == nil && $0.id != nil && !$0.requestsReceipt })
        await session.end()
    }

    @Test("a message that asks for a receipt ten thousand times gets one (RFC 6120 §13.12)")
    func manyRequests() async throws {
        let session = try await SessionRun()
        let requests = String(repeating: "<r:request/>", count: 10_500)
        let outcome = await session.receive(
            "<message xmlns:r='urn:xmpp:receipts' from='juliet@example.com/b' id='m1'><body>x</body>\(requests)</message>"
        )
        #expect(outcome.sent.map { try? Message($0).receivedReceiptID } == ["m1"])
        #expect(outcome.messages.map(\.body) == ["x"])
        await session.end()
    }

    @Test("a message that says ten thousand times that something was received says it once (RFC 6120 §13.12)")
    func manyReceipts() async throws {
        let session = try await SessionRun()
        let receipts = String(repeating: "<r:received id='c2'/>", count: 10_001)
        let outcome = await session.receive(
            Self.carbon("sent", from: "romeo@example.net", inner: Self.sent)
                + "<message xmlns:r='urn:xmpp:receipts' from='juliet@example.com/b'>\(receipts)</message>"
                + "<message from='juliet@example.com/b'><received xmlns='urn:xmpp:receipts' id='c2'/></message>")
        #expect(outcome.receipts == ["c2", "c2"])
        await session.end()
    }

    @Test("whoever wants no receipts sent sends none, and says that it knows none")
    func noReceipts() async throws {
        var configuration = try SessionRun.configuration()
        configuration.sendsReceipts = false
        let session = try await SessionRun(from: configuration)
        let outcome = await session.receive(
            "<message from='juliet@example.com/b' id='m1'><request xmlns='urn:xmpp:receipts'/><body>x</body></message>")
        #expect(outcome.sent.isEmpty && outcome.messages.count == 1)
        let features = await session.stream.requestContext.features
        #expect(!features.contains("urn:xmpp:receipts") && features.contains("urn:xmpp:reactions:0"))
        await session.end()
    }

    @Test("markers and typing go to nobody who may not know that the user is there (XEP-0333 §7, XEP-0085 §8)")
    func presenceLeaks() async throws {
        let session = try await SessionRun()
        let stream = session.stream
        func from(_ sender: String, _ content: String = "<markable xmlns='urn:xmpp:chat-markers:0'/>") throws -> Message
        {
            try Message(
                Element.parse("<message from='\(sender)' id='m1' type='chat'><body>x</body>\(content)</message>"))
        }
        #expect(try await stream.sendDisplayed(from("juliet@example.com/b")))
        #expect(try await !stream.sendDisplayed(from("mallory@evil.example/b")))
        #expect(try await !stream.sendDisplayed(from("juliet@example.com/b", "")), "nobody asked")
        #expect(try await !stream.sendDisplayed(from("romeo@example.net/home")), "one's own")
        #expect(try await stream.sendChatState(.composing, to: JID("juliet@example.com")))
        #expect(try await !stream.sendChatState(.composing, to: JID("mallory@evil.example")))
        await session.server.settle()
        let sent = try await session.server.sent().map { try Message($0) }
        #expect(sent.map(\.displayedID) == ["m1", nil] && sent.map(\.chatState) == [nil, .composing])
        #expect(sent.map(\.hints) == [.store, .noStore])
        await session.end()
    }

    @Test("an invitation surfaces whoever sends it, and joins nothing (XEP-0249 §5)")
    func invitations() async throws {
        let session = try await SessionRun()
        let outcome = await session.receive(
            "<message from='mallory@evil.example/x'><x xmlns='jabber:x:conference' jid='trap@muc.evil.example'/></message>"
                + "<message from='room@muc.example/x' type='groupchat'><body>see</body>"
                + "<x xmlns='jabber:x:conference' jid='trap@muc.evil.example'/></message>")
        #expect(outcome.invitations.map(\.room.description) == ["trap@muc.evil.example"])
        #expect(outcome.invitations.first?.from?.description == "mallory@evil.example/x")
        #expect(outcome.sent.isEmpty && outcome.messages.map(\.body) == ["see"])
        await session.end()
    }

    @Test(
        "who is blocked is known from the own account alone (XEP-0191 §3.3)",
        arguments: [
            ("", "<block xmlns='urn:xmpp:blocking'><item jid='a@b'/></block>", [BlockListChange.blocked([Somebody.a])]),
            ("from='romeo@example.net'", "<unblock xmlns='urn:xmpp:blocking'/>", [.cleared]),
            ("", "<unblock xmlns='urn:xmpp:blocking'><item jid='a@b'/></unblock>", [.unblocked([Somebody.a])]),
            ("", "<block xmlns='urn:xmpp:blocking'/>", []),
            ("", "<block xmlns='urn:xmpp:blocking'><item/></block>", []),
            ("", "<unblock xmlns='urn:xmpp:blocking'><item jid='@'/></unblock>", []),
            ("from='example.net'", "<unblock xmlns='urn:xmpp:blocking'/>", []),
            ("from='juliet@example.com/b'", "<unblock xmlns='urn:xmpp:blocking'/>", []),
        ])
    func blocking(from: String, payload: String, changes: [BlockListChange]) async throws {
        let session = try await SessionRun()
        let outcome = await session.receive("<iq type='set' id='p' \(from)>\(payload)</iq>")
        #expect(outcome.blockListChanges == changes)
        #expect(outcome.sent.map { $0["type"] } == [changes.isEmpty ? "error" : "result"])
        await session.end()
    }

    @Test("a message with more children than one can be asked about is still one message")
    func manyChildren() async throws {
        let session = try await SessionRun()
        let children = (0..<200).map { "<x\($0) xmlns='urn:example:\($0)'/>" }.joined()
        let outcome = await session.receive("<message from='a@b'><body>x</body>\(children)</message>")
        #expect(outcome.messages.count == 1)
        await session.end()
    }

    @Test("client state is told to servers that know it (XEP-0352 §4)")
    func clientState() async throws {
        let session = try await SessionRun()
        #expect(try await !session.stream.setActive(false))
        #expect(await session.server.sent().isEmpty)
        await session.end()
    }
}

extension Somebody {
    static let a = address("a@b")
}
