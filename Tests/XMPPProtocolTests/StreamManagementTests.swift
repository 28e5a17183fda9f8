// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore
import XMPPTestSupport
import XMPPXML

@testable import XMPPProtocol

@Suite("Stream Management: acknowledgements (XEP-0198 §4)")
struct StreamManagementTests {
    private static let stanza = Element("message", namespace: Namespace.client)

    private func acknowledgement(_ h: String?) -> Element {
        Element("a", namespace: Namespace.streamManagement, attributes: ["h": h])
    }

    @Test("the outbound count starts when <enable/> is sent, the inbound one at <enabled/>")
    func start() {
        var management = StreamManagement()
        management.sent(Self.stanza)
        #expect(management.sent == 0, "before <enable/> nothing counts")
        #expect(management.enable().localName == "enable")
        management.sent(Self.stanza)
        management.handledStanza()
        #expect(management.received(Element("enabled", namespace: Namespace.streamManagement)) == .enabled)
        management.handledStanza()
        #expect(management.sent == 1)
        #expect(management.handled == 1)
        #expect(management.received(Element("enabled", namespace: Namespace.streamManagement)) == .ignored)
        #expect(management.handled == 1, "a second <enabled/> changes nothing")
    }

    @Test("what is left to the server is not acknowledged, nor is anything after it")
    func leavesTheRest() {
        var management = StreamManagement(sent: 0, acknowledged: 0, handled: 7)
        management.leaveTheRest()
        management.handledStanza()
        #expect(
            management.received(Element("r", namespace: Namespace.streamManagement)) == .answer(acknowledgement("7")))
    }

    @Test("a session that is taken up owes the bytes that its stanzas had on the wire, not a guess")
    func resumedBytes() throws {
        let message = Element("message", namespace: Namespace.client, text: String(repeating: "x", count: 100_000))
        let state = StreamState(
            jid: try JID("romeo@example.net/orchard"), id: "s", handled: 0, acknowledged: 0,
            unacknowledged: [UnacknowledgedStanza(message), UnacknowledgedStanza(message)])
        let management = try #require(StreamManagement(resuming: state, handledByServer: 0))
        #expect((200_000..<200_100).contains(management.unacknowledgedBytes))
        let half = try #require(StreamManagement(resuming: state, handledByServer: 1))
        #expect(2 * half.unacknowledgedBytes == management.unacknowledgedBytes)
    }

    @Test("only message, presence and iq of the content namespace count", arguments: ["a", "r", "other"])
    func counts(name: String) {
        var management = StreamManagement(sent: 0, acknowledged: 0, handled: 0)
        management.sent(Element(name, namespace: Namespace.client))
        management.sent(Element("message", namespace: "urn:example"))
        #expect(management.sent == 0)
    }

    /// One row of `Tests/Vectors/sm-counters.tsv`.
    struct CounterVector: Sendable {
        let sent: UInt64
        let acknowledged: UInt64
        let h: UInt32
        /// How many stanzas leave the queue; `nil` for an error.
        let leaves: UInt32?

        static let all: [CounterVector] = ((try? VectorFile.rows("sm-counters.tsv")) ?? []).compactMap { cells in
            guard cells.count >= 4, let sent = UInt64(cells[0]), let acknowledged = UInt64(cells[1]),
                let h = UInt32(cells[2])
            else { return nil }
            let leaves = cells[3].hasPrefix("ack ") ? UInt32(cells[3].dropFirst(4)) : nil
            return CounterVector(sent: sent, acknowledged: acknowledged, h: h, leaves: leaves)
        }
    }

    @Test("the table of counters is there")
    func table() {
        #expect(CounterVector.all.count == 15)
    }

    @Test(
        "acknowledgements are taken modulo 2^32; too high a one is an error, not a wrap", arguments: CounterVector.all)
    func counters(vector: CounterVector) {
        var management = StreamManagement(
            sent: UInt32(truncatingIfNeeded: vector.sent),
            acknowledged: UInt32(truncatingIfNeeded: vector.acknowledged),
            handled: 0)
        let before = management.unacknowledged
        let outcome = management.received(acknowledgement(String(vector.h)))
        if let leaves = vector.leaves {
            #expect(outcome == .acknowledged(vector.h))
            #expect(before - management.unacknowledged == leaves)
        } else {
            guard case .violation(let error) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(error.condition == .undefinedCondition)
            #expect(error.applicationCondition?.localName == "handled-count-too-high")
            #expect(error.applicationCondition?["h"] == String(vector.h))
        }
    }

    @Test("a number that is none leaves the queue as it is", arguments: [nil, "", "-1", "+1", "1x", "4294967296", "٣"])
    func junk(h: String?) {
        var management = StreamManagement(sent: 3, acknowledged: 1, handled: 0)
        #expect(management.received(acknowledgement(h)) == .ignored)
        #expect(management.unacknowledged == 2)
    }

    @Test("one request at a time joins the acknowledgements of a burst")
    func requests() {
        var management = StreamManagement(sent: 0, acknowledged: 0, handled: 0)
        #expect(management.request() == nil, "nothing to ask for")
        management.sent(Self.stanza)
        #expect(management.request()?.localName == "r")
        management.sent(Self.stanza)
        #expect(management.request() == nil, "one is outstanding")
        #expect(management.received(acknowledgement("1")) == .acknowledged(1))
        #expect(management.request()?.localName == "r")
    }

    @Test("an answer says what was handled; elements of other versions are none of ours")
    func answers() {
        var management = StreamManagement(sent: 0, acknowledged: 0, handled: 7)
        #expect(
            management.received(Element("r", namespace: Namespace.streamManagement)) == .answer(acknowledgement("7")))
        management.handledStanza()
        #expect(management.answer["h"] == "8")
        var off = StreamManagement()
        #expect(off.received(Element("r", namespace: Namespace.streamManagement)) == .ignored)
        #expect(off.received(acknowledgement("1")) == .ignored)
    }

    @Test("the machine counts a stanza after it has been dealt with, whatever it is")
    func machineCounts() throws {
        var harness = try MachineHarness()
        try harness.establish()
        for xml in ["<message from='bad jid@@'/>", "<iq type='error' id='none'/>", "<presence/>"] {
            let stanza = try harness.receive(xml).compactMap(\.stanza)
            #expect(stanza.count == 1)
            harness.machine.handledStanza()
        }
        let answer = try harness.receive("<r xmlns='urn:xmpp:sm:3'/>").compactMap(\.sent).first
        #expect(answer?["h"] == "3")
        #expect(try harness.receive("<r xmlns='urn:xmpp:sm:2'/>") == [])
    }

    @Test("a wrong count of the server ends the stream and names both numbers")
    func violation() throws {
        var harness = try MachineHarness()
        try harness.establish()
        _ = harness.machine.send(Self.stanza)
        let actions = try harness.receive("<a xmlns='urn:xmpp:sm:3' h='2'/>")
        guard case .violation(let error)? = actions.end else {
            Issue.record("the stream did not end: \(actions)")
            return
        }
        #expect(error.applicationCondition?["send-count"] == "1")
    }

    @Test("a refusal leaves the session without acknowledgements")
    func refused() throws {
        var harness = try MachineHarness()
        try harness.establish(managed: false)
        #expect(harness.machine.isEstablished)
        #expect(!harness.machine.management.isOn)
    }

    @Test("a server that acknowledges nothing new is asked again a moment later, and not without end")
    func noProgress() throws {
        var harness = try MachineHarness()
        try harness.establish()
        _ = harness.machine.send(Self.stanza)
        #expect(harness.machine.burstSent().sentNames == ["r"])
        _ = harness.machine.timerFired(.acknowledgement)
        let actions = try harness.receive("<a xmlns='urn:xmpp:sm:3' h='0'/>")
        #expect(actions.sentNames == [] && actions.contains(.cancel(.answer)))
        #expect(actions.contains(.schedule(.acknowledgement, after: .seconds(1))))
        #expect(harness.machine.timerFired(.acknowledgement).sentNames == ["r"])
        // Where it leads on, what is left is asked for at once.
        _ = harness.machine.send(Self.stanza)
        #expect(try harness.receive("<a xmlns='urn:xmpp:sm:3' h='1'/>").sentNames == ["r"])
    }

    @Test("a server that answers what was sent behind <enable/>, and not that, does without (RFC 6120 §10.1)")
    func silence() throws {
        var harness = try MachineHarness()
        try harness.establish(enabled: "<presence from='juliet@example.net/x'/>")
        _ = harness.machine.send(Self.stanza)
        let ping = try #require(harness.machine.burstSent().compactMap(\.sent).first)
        #expect(ping.localName == "iq" && harness.machine.management.isCounting)
        let id = try #require(ping["id"])
        let actions = try harness.receive("<iq type='result' from='example.net' id='\(id)'/>")
        #expect(actions.contains(.emit(.acknowledged(1))))
        #expect(!harness.machine.management.isCounting)
    }

    @Test("a server that asks and asks, and acknowledges no answer, is left at a limit of stanzas, or of bytes")
    func owed() throws {
        var harness = try MachineHarness()
        try harness.establish()
        for _ in 0..<StreamManagement.maximumOwed {
            let end = harness.machine.wrote(Self.stanza, bytes: 1).end
            if end != nil { Issue.record("\(String(describing: end))") }
        }
        guard case .violation(let error)? = harness.machine.wrote(Self.stanza, bytes: 1).end else {
            Issue.record("the stream did not end")
            return
        }
        #expect(error.condition == .resourceConstraint)
        var other = try MachineHarness()
        try other.establish()
        #expect(other.machine.wrote(Self.stanza, bytes: StreamManagement.maximumOwedBytes).end == nil)
        #expect(other.machine.wrote(Self.stanza, bytes: 1).end != nil)
    }
}
