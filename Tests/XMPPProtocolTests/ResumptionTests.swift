// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore
import XMPPXML

@testable import XMPPProtocol

@Suite("Stream Management: resumption (XEP-0198 §5)")
struct ResumptionTests {
    private static let time = DateTime(millisecondsSinceEpoch: 1_700_000_000_000)

    private static func message(_ id: String) -> Element {
        Element("message", namespace: Namespace.client, attributes: ["to": "juliet@example.com", "id": id])
    }

    /// A session in which three messages were sent, the first of them acknowledged, and two stanzas received.
    private static func interrupted(
        id: String = "sm1", attributes: String = "", end: (inout MachineHarness) throws -> [StreamAction]
    ) throws -> StreamState? {
        var harness = try MachineHarness()
        try harness.establish(enabled: "<enabled xmlns='urn:xmpp:sm:3' resume='true' id='\(id)' \(attributes)/>")
        for id in ["m1", "m2", "m3"] { _ = harness.machine.sent(message(id), at: time) }
        try harness.receive("<a xmlns='urn:xmpp:sm:3' h='1'/>")
        for _ in 0..<2 {
            try harness.receive("<message from='juliet@example.com/b'/>")
            harness.machine.handledStanza()
        }
        _ = try end(&harness)
        return harness.machine.resumableState
    }

    private static func lost() throws -> StreamState {
        try #require(try interrupted { $0.machine.transportEnded("gone") })
    }

    /// A machine that has asked for the session.
    private func resuming(_ state: StreamState) throws -> (MachineHarness, Element?) {
        var harness = try MachineHarness(resuming: state)
        try harness.authenticate()
        let request = try harness.receive(MachineHarness.sessionFeatures).compactMap(\.sent).first
        return (harness, request)
    }

    @Test("what was sent while one place was tried goes with the session to the other that answers")
    func inherited() throws {
        let state = try Self.lost()
        var first = try MachineHarness(resuming: state).machine
        _ = first.transportConnected(directTLS: true, peerIsLoopback: false)
        var second = try MachineHarness(resuming: state).machine
        _ = second.transportConnected(directTLS: false, peerIsLoopback: false)
        first.keep(Self.message("m4"), at: Self.time)
        _ = first.transportEnded("overtaken")
        second.inherit(first.resumableState, token: nil)
        #expect(second.resumableState?.unacknowledged.map { $0.element["id"] } == ["m2", "m3", "m4"])
        // Where the session is asked for already, it is too late.
        var late = try resuming(state).0.machine
        late.inherit(nil, token: nil)
        #expect(late.resumableState?.id == "sm1")
    }

    @Test("<enable/> asks for a session that can be resumed")
    func enable() {
        var management = StreamManagement()
        #expect(management.enable()["resume"] == "true")
    }

    @Test("what an interrupted session leaves: its name, its counters, what is not acknowledged")
    func state() throws {
        let state = try Self.lost()
        #expect(state.id == "sm1")
        #expect(state.jid == (try JID("romeo@example.net/orchard")))
        #expect(state.handled == 2)
        #expect(state.acknowledged == 1)
        #expect(state.unacknowledged.map { $0.element["id"] } == ["m2", "m3"])
        #expect(state.unacknowledged.allSatisfy { $0.sentAt == Self.time })
        #expect(!"\(state)".contains("sm1"), "the name is a secret")
    }

    @Test("the name of a session is kept whole, whatever its length; place and time with it (§5)")
    func attributes() throws {
        let id = String(repeating: "x&amp;", count: 1_000)
        let state = try #require(
            try Self.interrupted(id: id, attributes: "location='[::1]:5269' max='600'") {
                $0.machine.transportEnded("")
            })
        #expect(state.id == String(repeating: "x&", count: 1_000))
        #expect(state.location == "[::1]:5269")
        #expect(state.maximumDuration == .seconds(600))
    }

    @Test("a session that the server will not resume leaves what is to be repeated")
    func notResumable() throws {
        var harness = try MachineHarness()
        try harness.establish()
        _ = harness.machine.sent(Self.message("m1"), at: Self.time)
        _ = harness.machine.transportEnded("")
        let state = try #require(harness.machine.resumableState)
        #expect(state.id == nil)
        #expect(state.unacknowledged.count == 1)
    }

    @Test("an orderly end leaves nothing, nor does a conflict (§5)")
    func orderlyEnds() throws {
        #expect(
            try Self.interrupted {
                _ = $0.machine.close()
                return $0.machine.received(.streamClosed)
            } == nil)
        let conflict = "<stream:error><conflict xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error>"
        #expect(try Self.interrupted { try $0.receive(conflict) } == nil)
    }

    @Test("an end by the server leaves what is to be repeated, another stream error the whole session")
    func endsByServer() throws {
        let closed = try #require(try Self.interrupted { $0.machine.received(.streamClosed) })
        #expect(closed.id == nil)
        #expect(closed.unacknowledged.count == 2)
        let shutdown = "<stream:error><system-shutdown xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error>"
        #expect(try Self.interrupted { try $0.receive(shutdown) }?.id == "sm1")
    }

    @Test("<resume/> comes instead of a request to bind, with name and count (§5)")
    func request() throws {
        let (harness, request) = try resuming(try Self.lost())
        #expect(request?.isNamed("resume", namespace: Namespace.streamManagement) == true)
        #expect(request?["previd"] == "sm1")
        #expect(request?["h"] == "2")
        #expect(!harness.machine.isEstablished)
    }

    @Test(
        "messages that are left to the owner count when they are sent anew; the other stanzas go at once, and count (§5)"
    )
    func doubted() throws {
        var state = try Self.lost()
        let room = Element(
            "message", namespace: Namespace.client,
            attributes: ["to": "room@example.com", "type": "groupchat", "id": "g"])
        var text = Self.message("m4")
        text.append(Element("body", namespace: Namespace.client, text: "text"))
        let request = Element("iq", namespace: Namespace.client, attributes: ["type": "get", "id": "i"])
        let others = [request, room].map { UnacknowledgedStanza($0) }
        func resumed(_ state: StreamState) throws -> (MachineHarness, [StreamAction]) {
            var harness = try MachineHarness(resuming: state, leavesDoubted: true)
            try harness.authenticate()
            try harness.receive(MachineHarness.sessionFeatures)
            let actions = try harness.receive("<resumed xmlns='urn:xmpp:sm:3' previd='sm1' h='2'/>")
            return (harness, actions)
        }
        state.unacknowledged += others
        // No archive would know them.
        #expect(try resumed(state).1.compactMap(\.sent).map { $0["id"] } == ["m3", "i", "g", nil])
        state.unacknowledged.append(UnacknowledgedStanza(text))
        var (harness, actions) = try resumed(state)
        #expect(actions.compactMap(\.sent).map { $0["id"] } == ["i", "g", nil])
        let news = actions.compactMap { if case .emit(let news) = $0 { news } else { nil } }
        #expect(news.suffix(2) == [.acknowledged(2), .doubted])
        #expect(harness.machine.unsettled.map { $0.element["id"] } == ["m3", "m4"])
        #expect(harness.machine.management.sent == 4)
        #expect(harness.machine.resumableState?.unacknowledged == others)
        _ = harness.machine.sent(text, at: Self.time)
        #expect(try harness.receive("<a xmlns='urn:xmpp:sm:3' h='5'/>").contains(.emit(.acknowledged(5))))
        #expect(harness.machine.resumableState?.unacknowledged == [])
    }

    @Test(
        "after <resumed/> the counters go on and only the unhandled stanzas are repeated, unchanged and in order (§5)")
    func resumed() throws {
        var (harness, _) = try resuming(try Self.lost())
        let actions = try harness.receive("<resumed xmlns='urn:xmpp:sm:3' previd='sm1' h='2'/>")
        #expect(actions.compactMap(\.sent).map { $0["id"] ?? $0.localName } == ["m3", "r"])
        #expect(actions.compactMap(\.sent).first == Self.message("m3"), "not a word is added")
        #expect(actions.contains(.emit(.acknowledged(2))))
        #expect(actions.contains { if case .emit(.resumed) = $0 { true } else { false } })
        #expect(!actions.contains { if case .emit(.established) = $0 { true } else { false } })
        #expect(harness.machine.isEstablished)
        #expect(harness.machine.management.sent == 3)
        #expect(harness.machine.management.handled == 2)
        try harness.receive("<message/>")
        harness.machine.handledStanza()
        #expect(try harness.receive("<r xmlns='urn:xmpp:sm:3'/>").compactMap(\.sent).first?["h"] == "3")
        #expect(try harness.receive("<a xmlns='urn:xmpp:sm:3' h='3'/>").contains(.emit(.acknowledged(3))))
        #expect(harness.machine.resumableState?.unacknowledged == [])
        #expect(harness.machine.resumableState?.id == "sm1", "it can be interrupted again")
    }

    @Test("a connection that is lost before the answer leaves the session as it was")
    func lostAgain() throws {
        let state = try Self.lost()
        var (harness, _) = try resuming(state)
        _ = harness.machine.transportEnded("")
        #expect(harness.machine.resumableState == state)
        (harness, _) = try resuming(state)
        let actions = harness.machine.timerFired(.negotiation)
        #expect(actions.compactMap(\.sent).isEmpty && !actions.contains(.endStream), "an orderly end would end it")
        #expect(harness.machine.resumableState == state)
    }

    @Test("more acknowledged than sent ends the stream and the session, but not the messages (§4)")
    func tooHigh() throws {
        var (harness, _) = try resuming(try Self.lost())
        let end = try harness.receive("<resumed xmlns='urn:xmpp:sm:3' previd='sm1' h='4'/>").end
        guard case .violation(let error)? = end else {
            Issue.record("\(String(describing: end))")
            return
        }
        #expect(error.condition == .undefinedCondition)
        #expect(error.applicationCondition?.localName == "handled-count-too-high")
        #expect(error.applicationCondition?["send-count"] == "3")
        #expect(harness.machine.resumableState?.id == nil)
        #expect(harness.machine.resumableState?.unacknowledged.count == 2)
    }

    @Test(
        "an answer that does not say which session, or how far it was, ends the stream and the session",
        arguments: [
            "previd='sm1'", "previd='sm1' h='-1'", "h='2'", "previd='other' h='2'",
        ])
    func malformed(attributes: String) throws {
        var (harness, _) = try resuming(try Self.lost())
        #expect(try harness.receive("<resumed xmlns='urn:xmpp:sm:3' \(attributes)/>").end != nil)
        #expect(harness.machine.resumableState?.id == nil)
        #expect(harness.machine.resumableState?.unacknowledged.count == 2)
    }

    @Test(
        "a refusal leads to a new session, in which the messages are repeated once, with id and stamp (§5)",
        arguments: [
            ("", ["m2", "m3"]), ("h='2'", ["m3"]), ("h='3'", []), ("h='junk'", ["m2", "m3"]),
        ])
    func refused(h: String, repeated: [String]) throws {
        var (harness, _) = try resuming(try Self.lost())
        let refusal = "<failed xmlns='urn:xmpp:sm:3' \(h)><item-not-found xmlns='\(Namespace.stanzaErrors)'/></failed>"
        let id = try #require(try harness.receive(refusal).compactMap(\.sent).first?["id"])
        #expect(try harness.receive(refusal) == [], "it is asked for once")
        let actions = try harness.receive(Self.bound(id))
        let sent = actions.compactMap(\.sent)
        #expect(sent.map { $0["id"] ?? $0.localName } == ["enable"] + repeated)
        for message in sent.dropFirst() {
            #expect(message.firstChild("delay", namespace: Namespace.delay)?["stamp"] == Self.time.description)
        }
        let news = actions.compactMap { if case .emit(.notResumed(let news)) = $0 { news } else { nil } }
        #expect(news.count == 1)
        #expect(news.first?.condition == .itemNotFound)
        #expect(news.first?.repeated.map(\.id) == repeated)
        try harness.receive("<enabled xmlns='urn:xmpp:sm:3' resume='true' id='sm2'/>")
        #expect(harness.machine.resumableState?.id == "sm2")
        #expect(harness.machine.resumableState?.unacknowledged.count == repeated.count, "they count in the new session")
    }

    @Test("what was said in rooms is left to an owner who enters them first (XEP-0045 §7.4)", arguments: [true, false])
    func rooms(_ isLeft: Bool) throws {
        var state = try Self.lost()
        let line = UnacknowledgedStanza(
            Message(to: try JID("coven@rooms.example.net"), kind: .groupchat, body: "Thrice", id: "g1").element)
        state.unacknowledged.append(line)
        var harness = try MachineHarness(resuming: state, leavesRoomMessages: isLeft)
        try harness.authenticate()
        try harness.receive(MachineHarness.sessionFeatures)
        let refusal = "<failed xmlns='urn:xmpp:sm:3'><item-not-found xmlns='\(Namespace.stanzaErrors)'/></failed>"
        let id = try #require(try harness.receive(refusal).compactMap(\.sent).first?["id"])
        let sent = try harness.receive(Self.bound(id)).compactMap(\.sent).compactMap { $0["id"] }
        #expect(sent.contains("m3") && sent.contains("g1") == !isLeft)
        #expect(harness.machine.unsettled == (isLeft ? [line] : []))
    }

    @Test(
        "any refusal will do: without condition, or with one that nobody knows",
        arguments: [
            "<failed xmlns='urn:xmpp:sm:3'/>",
            "<failed xmlns='urn:xmpp:sm:3'><teapot xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></failed>",
        ])
    func anyRefusal(xml: String) throws {
        var (harness, _) = try resuming(try Self.lost())
        #expect(try harness.receive(xml).compactMap(\.sent).first?.localName == "iq")
    }

    @Test("a refusal that claims too much ends the stream (§4)")
    func refusalTooHigh() throws {
        var (harness, _) = try resuming(try Self.lost())
        guard case .violation? = try harness.receive("<failed xmlns='urn:xmpp:sm:3' h='9'/>").end else {
            Issue.record("the stream goes on")
            return
        }
        #expect(harness.machine.resumableState?.id == nil)
    }

    @Test("presences and requests are not repeated in a new session; the application is told")
    func notRepeated() throws {
        var state = StreamState(jid: try JID("romeo@example.net/orchard"), id: nil)
        state.unacknowledged = [
            UnacknowledgedStanza(Presence().element), UnacknowledgedStanza(IQ(.get, id: "q1").element),
            UnacknowledgedStanza(Self.message("m1")),
        ]
        var harness = try MachineHarness(resuming: state)
        let id = try harness.bind()
        let actions = try harness.receive(Self.bound(id))
        #expect(actions.sentNames == ["enable", "message"])
        let news = actions.compactMap { if case .emit(.notResumed(let news)) = $0 { news } else { nil } }
        #expect(news.first?.dropped.map(\.localName) == ["presence", "iq"])
    }

    @Test("where the server no longer does Stream Management, a new session follows at once")
    func notOffered() throws {
        var harness = try MachineHarness(resuming: try Self.lost())
        let id = try harness.bind("<stream:features><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></stream:features>")
        let sent = try harness.receive(Self.bound(id)).compactMap(\.sent)
        #expect(sent.map { $0["id"] } == ["m2", "m3"])
    }

    private static func bound(_ id: String) -> String {
        "<iq type='result' id='\(id)'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>"
            + "<jid>romeo@example.net/orchard</jid></bind></iq>"
    }

    @Test(
        "a session that holds what is too large for the server is not resumed, since that would be repeated (RFC 6120 §13.12)",
        arguments: [(11_000, nil), (100, "sm1")] as [(Int, String?)])
    func tooLarge(_ size: Int, id: String?) throws {
        let error = "<stream:error><policy-violation xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error>"
        let state = try #require(
            try Self.interrupted { harness in
                var message = Self.message("m4")
                message.append(Element("body", namespace: Namespace.client, text: String(repeating: "x", count: size)))
                _ = harness.machine.sent(message, at: Self.time)
                return try harness.receive(error)
            })
        #expect(state.id == id && state.unacknowledged.map { $0.element["id"] } == ["m2", "m3", "m4"])
    }
}

extension StreamStateMachine {
    /// The application sends an element at this time.
    fileprivate mutating func sent(_ element: Element, at time: DateTime) -> [StreamAction] {
        wrote(element, bytes: 100, at: time)
    }
}
