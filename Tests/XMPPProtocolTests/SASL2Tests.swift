// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore
import XMPPXML

@testable import XMPPProtocol

@Suite("SASL2, Bind 2 and inline Stream Management (XEP-0388, XEP-0386, XEP-0198 §9)")
struct SASL2Tests {
    private static let offers =
        "<inline><sm xmlns='urn:xmpp:sm:3'/><bind xmlns='urn:xmpp:bind:0'><inline><feature var='urn:xmpp:sm:3'/>"
        + "<feature var='urn:x:one'/></inline></bind></inline>"

    private static func offering(
        _ mechanisms: [String] = ["PLAIN"], inline: String = offers, older: [String]? = nil, more: String = ""
    ) -> String {
        let list = mechanisms.map { "<mechanism>\($0)</mechanism>" }.joined()
        let olderList = (older ?? []).map { "<mechanism>\($0)</mechanism>" }.joined()
        let classic =
            older == nil ? "" : "<mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>\(olderList)</mechanisms>"
        return "<stream:features><authentication xmlns='urn:xmpp:sasl:2'>\(list)\(inline)</authentication>"
            + "\(classic)\(more)</stream:features>"
    }

    private static func granted(_ content: String, identity: String = "romeo@example.net/orchard.x") -> String {
        "<success xmlns='urn:xmpp:sasl:2'><authorization-identifier>\(identity)</authorization-identifier>"
            + "\(content)</success>"
    }

    private static let bound =
        "<bound xmlns='urn:xmpp:bind:0'><enabled xmlns='urn:xmpp:sm:3' id='sm2' resume='1'/></bound>"
    private static let sessionFeatures = "<stream:features><sm xmlns='urn:xmpp:sm:3'/></stream:features>"

    /// A machine behind TLS, with the request that it makes.
    private func asking(
        _ features: String = offering(), resuming state: StreamState? = nil,
        configure: (inout StreamConfiguration) -> Void = { _ in }
    ) throws -> (MachineHarness, Element?) {
        var harness = try MachineHarness(resuming: state, configure: configure)
        try harness.secure()
        let actions = try harness.receive(features)
        return (harness, actions.compactMap(\.sent).first)
    }

    private static var interrupted: StreamState {
        get throws {
            let message = Element("message", namespace: Namespace.client, attributes: ["id": "m1"])
            return StreamState(
                jid: try JID("romeo@example.net/orchard"), id: "sm1", handled: 7, acknowledged: 2,
                unacknowledged: [UnacknowledgedStanza(message)])
        }
    }

    @Test("one element carries the password's proof, who asks, and what is to be bound and switched on")
    func request() throws {
        let (_, request) = try asking { configuration in
            configuration.userAgent = UserAgent(id: "d4565fa7-4d72-4749-b3d3-740edbf87770", software: "Verona")
            configuration.bindTag = "verona"
            configuration.inlineFeatures = [
                InlineFeature(name: "urn:x:one", request: Element("enable", namespace: "urn:x:one")),
                InlineFeature(name: "urn:x:two", request: Element("enable", namespace: "urn:x:two")),
            ]
        }
        let expected =
            "<authenticate xmlns='urn:xmpp:sasl:2' mechanism='PLAIN'>"
            + "<initial-response>AHJvbWVvAHNlY3JldA==</initial-response>"
            + "<user-agent id='d4565fa7-4d72-4749-b3d3-740edbf87770'><software>Verona</software></user-agent>"
            + "<bind xmlns='urn:xmpp:bind:0'><tag>verona</tag><enable xmlns='urn:xmpp:sm:3' resume='true'/>"
            + "<enable xmlns='urn:x:one'/></bind></authenticate>"
        #expect(request == (try Element.parse(expected)), "nothing is asked for that is not offered")
    }

    @Test("success binds: no new stream, no request, and Stream Management runs (XEP-0388 §2.6.1, XEP-0386 §3.2)")
    func success() throws {
        var (harness, _) = try asking()
        let first = try harness.receive(Self.granted(Self.bound))
        #expect(first == [.emit(.authenticated(mechanism: "PLAIN")), .limit(.session)])
        let second = try harness.receive(Self.sessionFeatures)
        #expect(second.sentNames.isEmpty)
        let session = second.compactMap { if case .emit(.established(let session)) = $0 { session } else { nil } }.first
        #expect(session?.jid == (try JID("romeo@example.net/orchard.x")))
        #expect(harness.machine.management.isOn)
        #expect(harness.machine.resumableState?.id == "sm2")
    }

    @Test("a server that sends no features after the success is spoken to all the same")
    func stanzaInsteadOfFeatures() throws {
        var (harness, _) = try asking()
        try harness.receive(Self.granted(Self.bound))
        let actions = try harness.receive("<message from='juliet@example.com'/>")
        #expect(actions.compactMap(\.stanza).count == 1)
        #expect(harness.machine.isEstablished)
        #expect(harness.machine.resumableState?.handled == 0)
        harness.machine.handledStanza()
        #expect(harness.machine.resumableState?.handled == 1, "the stanza counts")
    }

    @Test("without Bind 2 a resource is bound on the same stream (RFC 6120 §7)")
    func classicBinding() throws {
        var (harness, request) = try asking(Self.offering(inline: ""))
        #expect(request?.children.map(\.localName) == ["initial-response"])
        try harness.receive(Self.granted("", identity: "romeo@example.net"))
        let actions = try harness.receive(MachineHarness.sessionFeatures)
        #expect(actions.sentNames == ["iq"])
    }

    @Test("Stream Management that came without an answer is asked for once more (XEP-0198 §9.1)")
    func noAnswerToEnable() throws {
        var (harness, _) = try asking()
        try harness.receive(Self.granted("<bound xmlns='urn:xmpp:bind:0'/>"))
        #expect(try harness.receive(Self.sessionFeatures).sentNames == ["enable"])
        var (refused, _) = try asking()
        try refused.receive(Self.granted("<bound xmlns='urn:xmpp:bind:0'><failed xmlns='urn:xmpp:sm:3'/></bound>"))
        #expect(try refused.receive(Self.sessionFeatures).sentNames.isEmpty)
        #expect(!refused.machine.management.isOn)
    }

    @Test(
        "a success that does not say whose session it is, or says so of another domain, ends it (XEP-0388 §2.6.1)",
        arguments: [
            "<success xmlns='urn:xmpp:sasl:2'/>", granted(bound, identity: ""), granted(bound, identity: "@"),
            granted(bound, identity: "romeo@evil.example/x"), granted(bound, identity: "romeo@example.net"),
        ])
    func identity(success: String) throws {
        var (harness, _) = try asking()
        #expect(try harness.receive(success).end != nil)
        #expect(!harness.machine.isEstablished)
    }

    @Test(
        "nothing but the words of the profile counts, and no step that was not offered (XEP-0388 §2.4, §2.6.3)",
        arguments: [
            "<challenge xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>",
            "<success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>",
            "<message/>", "<task-data xmlns='urn:xmpp:sasl:2'/>", "<continue xmlns='urn:xmpp:sasl:2'/>",
            "<continue xmlns='urn:xmpp:sasl:2'><tasks><task>UPGR-PLAIN</task></tasks></continue>",
            "<challenge xmlns='urn:xmpp:sasl:2'><x/></challenge>",
        ])
    func strangers(element: String) throws {
        var (harness, _) = try asking(Self.offering(["SCRAM-SHA-1"]))
        let actions = try harness.receive(element)
        #expect(actions.end != nil)
        #expect(actions.compactMap(\.sent) == [Element("abort", namespace: "urn:xmpp:sasl:2")])
    }

    @Test("a failure names its condition in the words of RFC 6120 (XEP-0388 §2.6.2)")
    func failure() throws {
        var (harness, _) = try asking()
        let actions = try harness.receive(
            "<failure xmlns='urn:xmpp:sasl:2'><x xmlns='urn:x'/>"
                + "<not-authorized xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/><text>no</text></failure>")
        #expect(actions.end == .authenticationRefused(SASLFailure(.notAuthorized, text: "no"), mechanism: "PLAIN"))
    }

    // MARK: Which profile

    @Test("SASL2 is used wherever it is offered inside TLS; the older profile where that offers something better")
    func choice() throws {
        func first(_ features: String, configure: (inout StreamConfiguration) -> Void = { _ in }) throws -> String? {
            let (_, request) = try asking(features, configure: configure)
            return request.map { "\($0.localName) \($0["mechanism"] ?? "")" }
        }
        #expect(try first(Self.offering(older: ["PLAIN"])) == "authenticate PLAIN")
        #expect(try first(Self.offering(older: ["SCRAM-SHA-1"])) == "auth SCRAM-SHA-1")
        #expect(try first(Self.offering(["SCRAM-SHA-256"], older: ["SCRAM-SHA-1"])) == "authenticate SCRAM-SHA-256")
        #expect(try first(Self.offering(["X-NEW"], older: ["SCRAM-SHA-1"])) == "auth SCRAM-SHA-1")
        #expect(try first(Self.offering(older: ["PLAIN"])) { $0.usesSASL2 = false } == "auth PLAIN")
        #expect(try first(Self.offering(["X-NEW"])) == nil)
    }

    @Test("on loopback in the clear there is no SASL2 (XEP-0388 §4)")
    func inTheClear() throws {
        var harness = try MachineHarness(security: .plaintextOnLoopback)
        _ = harness.machine.transportConnected(directTLS: false, peerIsLoopback: true)
        _ = harness.header()
        #expect(try harness.receive(Self.offering(older: ["PLAIN"])).sentNames == ["auth"])
        var other = try MachineHarness(security: .plaintextOnLoopback)
        _ = other.machine.transportConnected(directTLS: false, peerIsLoopback: true)
        _ = other.header()
        #expect(try !other.receive(Self.offering()).sendsCredentials)
    }

    @Test("a list of channel bindings that was cut is no reason to fall back to the older profile (XEP-0440)")
    func cutBindings() throws {
        var harness = try MachineHarness()
        try harness.secure(bindings: [ChannelBindingData(type: .tlsExporter, bytes: [1])])
        let actions = try harness.receive(Self.offering(["SCRAM-SHA-1-PLUS", "SCRAM-SHA-1"], older: ["SCRAM-SHA-1"]))
        #expect(actions.end != nil && !actions.sendsCredentials)
    }

    // MARK: Resuming

    @Test("a session is resumed with the authentication, whatever is bound beside it (XEP-0198 §9.2)")
    func resumption() throws {
        var (harness, request) = try asking(resuming: try Self.interrupted)
        let resume = request?.firstChild("resume", namespace: Namespace.streamManagement)
        #expect(resume?["previd"] == "sm1" && resume?["h"] == "7")
        #expect(request?.firstChild("bind", namespace: Namespace.bind2) != nil)
        let actions = try harness.receive(
            Self.granted("<resumed xmlns='urn:xmpp:sm:3' previd='sm1' h='2'/>\(Self.bound)"))
        #expect(actions.sentNames == ["message", "r"])
        #expect(harness.machine.resumableState?.id == "sm1")
        #expect(harness.machine.resumableState?.jid == (try JID("romeo@example.net/orchard")))
        #expect(try harness.receive(Self.sessionFeatures).isEmpty)
    }

    @Test("a session that is gone leaves its messages to the one that is bound beside (XEP-0198 §9.2.1)")
    func failedResumption() throws {
        var (harness, _) = try asking(resuming: try Self.interrupted)
        let first = try harness.receive(Self.granted("<failed xmlns='urn:xmpp:sm:3' h='2'/>\(Self.bound)"))
        #expect(first.contains(.emit(.acknowledged(2))))
        let second = try harness.receive(Self.sessionFeatures)
        #expect(second.sentNames == ["message"])
        #expect(harness.machine.resumableState?.id == "sm2")
    }

    @Test(
        "a resumption that counts wrong, or does not say of what, ends the stream (XEP-0198 §4, §5)",
        arguments: [
            "<failed xmlns='urn:xmpp:sm:3' h='9'/>", "<resumed xmlns='urn:xmpp:sm:3' previd='sm1' h='9'/>",
            "<resumed xmlns='urn:xmpp:sm:3' previd='sm9' h='2'/>", "<resumed xmlns='urn:xmpp:sm:3' previd='sm1'/>",
        ])
    func wrongCount(answer: String) throws {
        var (harness, _) = try asking(resuming: try Self.interrupted)
        #expect(try harness.receive(Self.granted(answer + Self.bound)).end != nil)
    }

    @Test("where a session can only be resumed later, nothing is bound before")
    func laterResumption() throws {
        let features = Self.offering(inline: "<inline><bind xmlns='urn:xmpp:bind:0'/></inline>")
        var (harness, request) = try asking(features, resuming: try Self.interrupted)
        #expect(request?.children.map(\.localName) == ["initial-response"])
        try harness.receive(Self.granted("", identity: "romeo@example.net"))
        #expect(try harness.receive(MachineHarness.sessionFeatures).sentNames == ["resume"])
    }

    @Test("a connection lost while the resumption is under way loses no session")
    func lostWhileResuming() throws {
        var (harness, _) = try asking(resuming: try Self.interrupted)
        _ = harness.machine.transportEnded("gone")
        #expect(harness.machine.resumableState == (try Self.interrupted))
        var (late, _) = try asking(resuming: try Self.interrupted)
        #expect(late.machine.timerFired(.negotiation).sentNames.isEmpty, "an end of the stream would end the session")
    }
}
