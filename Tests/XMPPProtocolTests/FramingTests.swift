// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore
import XMPPXML

@testable import XMPPProtocol

@Suite("The framing of a stream for WebSocket (RFC 7395)")
struct FramingTests {
    private static let open =
        "<open xmlns='urn:ietf:params:xml:ns:xmpp-framing' from='example.org' id='x' version='1.0' xml:lang='en'/>"

    private func reader(opened: Bool = true) -> StreamReader {
        let reader = StreamReader(.messages)
        if opened { _ = feed(reader, Self.open) }
        return reader
    }

    private func feed(_ reader: StreamReader, _ message: String) -> XMLStreamParser.Outcome {
        reader.feed(Array(message.utf8)[...], .batch)
    }

    private func text(_ bytes: [UInt8]?) -> String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

    @Test("a stream opens and closes with elements of their own (RFC 7395 §3.4, §3.6)")
    func writing() throws {
        let header = StreamHeader(to: "example.org", from: "romeo@example.org", language: "en")
        #expect(
            text(StreamFraming.messages.opening(header))
                == "<open xmlns='urn:ietf:params:xml:ns:xmpp-framing' version='1.0' to='example.org' from='romeo@example.org' xml:lang='en'/>"
        )
        #expect(text(StreamFraming.messages.closing) == "<close xmlns='urn:ietf:params:xml:ns:xmpp-framing'/>")
        #expect(text(StreamFraming.document.opening(header))?.hasPrefix("<?xml version='1.0'?><stream:stream ") == true)
    }

    @Test("each element declares its own namespaces (RFC 7395 §3.3.3)")
    func namespaces() throws {
        let presence = Element("presence", namespace: Namespace.client)
        #expect(text(try StreamFraming.messages.serialize(presence)) == "<presence xmlns='jabber:client'/>")
        #expect(text(try StreamFraming.document.serialize(presence)) == "<presence/>")
        var error = Element("error", namespace: Namespace.streams)
        error.append(Element("reset", namespace: Namespace.streamErrors))
        let written = try StreamFraming.messages.serialize(error)
        #expect(reader().feed(written[...], .batch).events == [.element(error)])
    }

    @Test("what is read is what a stream brings: root, elements, end")
    func reading() throws {
        let reader = reader(opened: false)
        guard case .streamOpened(let root, "jabber:client")? = feed(reader, Self.open).events.first else {
            Issue.record("no stream")
            return
        }
        #expect(root.isNamed("stream", namespace: Namespace.streams) && root["from"] == "example.org")
        #expect(root["id"] == "x" && root["version"] == "1.0" && root.language == "en")
        let features = feed(
            reader, "<stream:features xmlns:stream='http://etherx.jabber.org/streams'><a xmlns='b'/></stream:features>")
        guard case .element(let element)? = features.events.first else {
            Issue.record("no features")
            return
        }
        #expect(element.isNamed("features", namespace: Namespace.streams))
        #expect(feed(reader, "<close xmlns='urn:ietf:params:xml:ns:xmpp-framing'/>").events == [.streamClosed])
    }

    @Test(
        "a message that is not exactly one element, whole and on its own, is refused (RFC 7395 §3.3)",
        arguments: [
            " <a xmlns='b'/>", "<a xmlns='b'/><c xmlns='b'/>", "<a xmlns='b'>", "</_.:stream>", "", "text",
            "<a xmlns='b'/>x",
            "<?xml version='1.0'?><a xmlns='b'/>", "<!--x--><a xmlns='b'/>", "<stream:features/>", "<_:features/>",
            "<a xmlns='b'/></_.:stream><_.:stream>", "<a xmlns='b'/> <c xmlns='b'/>",
        ])
    func refused(_ message: String) {
        let outcome = feed(reader(), message)
        #expect(outcome.error != nil && outcome.events == [], "\(outcome)")
    }

    @Test("an end that names another place says what `see-other-host` says (RFC 7395 §3.6.1)")
    func redirection() throws {
        let close =
            "<close xmlns='urn:ietf:params:xml:ns:xmpp-framing' see-other-uri='wss://example.org/ws?a=b&amp;c'/>"
        for isOpen in [true, false] {
            let events = feed(reader(opened: isOpen), close).events
            guard case .element(let element)? = events.first else {
                Issue.record("\(events)")
                return
            }
            let error = StreamError(element)
            #expect(error.condition == .seeOtherHost && error.conditionText == "wss://example.org/ws?a=b&c")
            #expect(events.count == 2 && events.last == .streamClosed)
        }
    }

    @Test("white space behind the element is no second one")
    func whitespace() {
        #expect(feed(reader(), "<a xmlns='b'/>\n").events.count == 1)
    }

    @Test("nothing but the end comes before <open/>, and that comes once")
    func opening() {
        #expect(feed(reader(opened: false), "<message xmlns='jabber:client'/>").error != nil)
        #expect(
            feed(reader(opened: false), "<close xmlns='urn:ietf:params:xml:ns:xmpp-framing'/>").events
                == [.streamClosed])
        guard case .element? = feed(reader(), Self.open).events.first else {
            Issue.record("a second stream began")
            return
        }
    }

    @Test("the limits are those of a stream")
    func limits() {
        let reader = StreamReader(.messages, limits: .beforeAuthentication)
        let long = String(repeating: "x", count: XMLLimits.beforeAuthentication.maximumStanzaBytes)
        guard case .limitExceeded? = feed(reader, "<a xmlns='\(long)'/>").error else {
            Issue.record("a message of any length is taken")
            return
        }
    }
}
