// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore
import XMPPXML

@Suite("Typed payloads")
struct StanzaPayloadTests {
    private struct Mood: StanzaPayload, Hashable {
        static let elementName = ElementName("mood", namespace: "urn:example:mood")
        var text: String

        init(_ text: String) {
            self.text = text
        }

        init?(_ element: Element) {
            guard element.name == Self.elementName, !element.text.isEmpty else { return nil }
            text = element.text
        }

        var element: Element { Element(Self.elementName, text: text) }
    }

    @Test("a payload is put in once, read back and taken out, and leaves the rest alone")
    func roundTrip() throws {
        var message = Message(to: try JID("a@b"), body: "hi")
        message.setPayload(Mood("merry"))
        message.setPayload(Mood("sad"))
        #expect(try Message(message.element).payload(Mood.self) == Mood("sad"))
        #expect(message.element.children.count == 2)
        message.removePayload(Mood.self)
        #expect(message.payload(Mood.self) == nil)
        #expect(message.body == "hi")
    }

    @Test("one that cannot be read is passed over")
    func unreadable() throws {
        let message = try Message(
            Element.parse(
                "<message><mood xmlns='urn:example:mood'/><mood xmlns='urn:other'>x</mood>"
                    + "<mood xmlns='urn:example:mood'>calm</mood></message>", defaultNamespace: Namespace.client))
        #expect(message.payload(Mood.self) == Mood("calm"))
    }

    @Test("an answer goes back to the sender in its thread, and in a room to the room")
    func reply() throws {
        var message = Message(to: try JID("me@b"), body: "?")
        message.from = try JID("a@b/c")
        message.thread = "t"
        let answer = message.reply("!")
        #expect(answer.to == message.from && answer.kind == .chat && answer.thread == "t" && answer.body == "!")
        message.kind = .groupchat
        #expect(message.reply("!").to == (try JID("a@b")))
    }
}
