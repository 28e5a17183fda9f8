// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCore
import XMPPCrypto
import XMPPXML

@testable import XMPPProtocol

@Suite("Tokens in place of the password (XEP-0484)")
struct LoginTokenTests {
    private static let now = DateTime(millisecondsSinceEpoch: 1_700_000_000_000)
    private static let later = DateTime(millisecondsSinceEpoch: 1_800_000_000_000)
    private static let exporter = ChannelBindingData(type: .tlsExporter, bytes: [1, 2, 3])
    private static let endPoint = ChannelBindingData(type: .tlsServerEndPoint, bytes: [4, 5, 6])
    private static let expr = SASLMechanismName(rawValue: "HT-SHA-256-EXPR")
    private static let endp = SASLMechanismName(rawValue: "HT-SHA-256-ENDP")
    private static let none = SASLMechanismName(rawValue: "HT-SHA-256-NONE")

    private static func token(_ mechanism: SASLMechanismName, expiry: DateTime = later) -> LoginToken {
        LoginToken(mechanism: mechanism, bytes: Array("t0k".utf8), expiry: expiry, count: 7)
    }

    private static func offering(
        _ mechanisms: [String] = ["SCRAM-SHA-1", "SCRAM-SHA-1-PLUS"],
        tokens: [String] = ["HT-SHA-256-NONE", "HT-SHA-256-ENDP", "HT-SHA-256-EXPR", "HT-SHA-256-UNIQ"]
    ) -> String {
        func list(_ names: [String]) -> String { names.map { "<mechanism>\($0)</mechanism>" }.joined() }
        let types = mechanisms.contains { $0.hasSuffix("-PLUS") } ? ["tls-exporter", "tls-server-end-point"] : []
        let bindings = types.map { "<channel-binding type='\($0)'/>" }.joined()
        return "<stream:features><authentication xmlns='urn:xmpp:sasl:2'>\(list(mechanisms))<inline>"
            + "<fast xmlns='urn:xmpp:fast:0'>\(list(tokens))</fast><bind xmlns='urn:xmpp:bind:0'/></inline>"
            + "</authentication><sasl-channel-binding xmlns='urn:xmpp:sasl-cb:0'>\(bindings)</sasl-channel-binding>"
            + "</stream:features>"
    }

    /// A machine that knows a token, behind TLS, with what it asks first.
    private func asking(
        _ features: String = offering(), token: LoginToken?, bindings: [ChannelBindingData] = [exporter, endPoint],
        configure: (inout StreamConfiguration) -> Void = { _ in }
    ) throws -> (MachineHarness, Element?) {
        var harness = try MachineHarness { configuration in
            configuration.authentication.token = token
            configuration.authentication.wantsToken = true
            configuration.authentication.time = Self.now
            configuration.userAgent = UserAgent(id: "d4565fa7-4d72-4749-b3d3-740edbf87770")
            configure(&configuration)
        }
        try harness.secure(bindings: bindings)
        let request = try harness.receive(features).compactMap(\.sent).first
        return (harness, request)
    }

    private static func proof(_ side: String, _ binding: [UInt8]) throws -> [UInt8] {
        try HMAC.authenticate(Array(side.utf8) + binding, key: SecretBytes("t0k"), using: .sha256)
    }

    private static func granted(_ proof: [UInt8]?, token: String = "") -> String {
        "<success xmlns='urn:xmpp:sasl:2'>"
            + (proof.map { "<additional-data>\(Base64.encode($0))</additional-data>" } ?? "")
            + "<authorization-identifier>romeo@example.net/x</authorization-identifier>"
            + "<bound xmlns='urn:xmpp:bind:0'/>\(token)</success>"
    }

    private static let fresh = "<token xmlns='urn:xmpp:fast:0' token='n3w' expiry='2027-01-15T08:00:00Z'/>"

    private func news(_ actions: [StreamAction]) -> [LoginToken?] {
        actions.compactMap { if case .emit(.token(let token)) = $0 { .some(token) } else { nil } }
    }

    // MARK: Logging in with one

    @Test(
        "a token logs in with one message, bound as its mechanism says, and counted (§3.4)",
        arguments: [(expr, [UInt8]([1, 2, 3])), (endp, [4, 5, 6]), (none, [])])
    func login(mechanism: SASLMechanismName, binding: [UInt8]) throws {
        var (harness, request) = try asking(
            token: Self.token(mechanism), bindings: binding.isEmpty ? [] : [Self.exporter, Self.endPoint])
        #expect(request?["mechanism"] == mechanism.rawValue)
        let initial = request?.firstChild("initial-response", namespace: Namespace.sasl2)
        #expect(
            initial.flatMap { Base64.decode($0.text) }
                == Array("romeo".utf8) + [0] + (try Self.proof("Initiator", binding)))
        #expect(request?.firstChild("fast", namespace: Namespace.fast)?["count"] == "7")
        #expect(request?.firstChild("request-token", namespace: Namespace.fast) == nil)
        let actions = try harness.receive(Self.granted(try Self.proof("Responder", binding), token: Self.fresh))
        #expect(actions.contains(.emit(.authenticated(mechanism: mechanism.rawValue))))
        let token = news(actions).first ?? nil
        #expect(token?.mechanism == mechanism && token?.bytes == Array("n3w".utf8) && token?.count == 0)
    }

    @Test("a success without the server's own proof is none")
    func serverProof() throws {
        for answer in [nil, [], try Self.proof("Initiator", [1, 2, 3]), try Self.proof("Responder", [4, 5, 6])] {
            var (harness, _) = try asking(token: Self.token(Self.expr))
            let end = try harness.receive(Self.granted(answer)).end
            guard case .serverNotAuthenticated = end else {
                Issue.record("\(String(describing: end))")
                continue
            }
        }
    }

    @Test("a token whose server does not prove that it has it is forgotten: the next login goes by the password")
    func unproven() throws {
        for answer in [nil, try Self.proof("Responder", [4, 5, 6])] {
            var (harness, _) = try asking(token: Self.token(Self.expr))
            let actions = try harness.receive(Self.granted(answer))
            #expect(news(actions).count == 1 && news(actions)[0] == nil)
            guard case .serverNotAuthenticated(let reason, _)? = actions.end else {
                Issue.record("\(actions)")
                continue
            }
            #expect(reason.contains("token of an earlier login"))
        }
    }

    @Test("a token is not used after its end, nor with another mechanism or channel than its own (§3.4)")
    func unusable() throws {
        func first(
            _ token: LoginToken, _ features: String = Self.offering(),
            bindings: [ChannelBindingData] = [Self.exporter, Self.endPoint]
        ) throws -> String? {
            try asking(features, token: token, bindings: bindings).1?["mechanism"]
        }
        #expect(try first(Self.token(Self.expr, expiry: Self.now)) == "SCRAM-SHA-1-PLUS")
        #expect(try first(Self.token(Self.expr), Self.offering(tokens: ["HT-SHA-256-NONE"])) == "SCRAM-SHA-1-PLUS")
        #expect(try first(Self.token(Self.expr), bindings: [Self.endPoint]) == "SCRAM-SHA-1-PLUS")
        #expect(try first(Self.token(SASLMechanismName(rawValue: "X-TOKEN"))) == "SCRAM-SHA-1-PLUS")
    }

    @Test("a token that is bound to no channel is not used where a login was, nor where one that is can be had (§6)")
    func unbound() throws {
        let token = Self.token(Self.none)
        let older = Self.offering(["SCRAM-SHA-1"], tokens: ["HT-SHA-256-NONE"])
        #expect(try asking(older, token: token).1?["mechanism"] == "HT-SHA-256-NONE")
        // Somebody in between may have cut the offer short.
        let (cut, request) = try asking(older, token: token) {
            $0.authentication.policy.hasUsedChannelBinding = true
        }
        #expect(request == nil && cut.machine.hasEnded)
        let allowed = try asking(older, token: token) {
            $0.authentication.policy.hasUsedChannelBinding = true
            $0.authentication.policy.allowsWeakerLogin = true
        }
        #expect(allowed.1?["mechanism"] == "HT-SHA-256-NONE")
        // The server has learnt to bind: the password gets a token that is bound.
        let (_, bound) = try asking(token: token)
        #expect(bound?["mechanism"] == "SCRAM-SHA-1-PLUS")
        #expect(bound?.firstChild("request-token", namespace: Namespace.fast)?["mechanism"] == "HT-SHA-256-EXPR")
        let tokenAlone = try asking(token: token) {
            $0.authentication.credentials = .account(SASLAccount(username: "romeo", password: nil))
        }
        #expect(tokenAlone.1?["mechanism"] == "HT-SHA-256-NONE", "there is nothing else")
    }

    @Test("one who goes on with the connection of another counts as that one has: no number is used twice (§3.4)")
    func handedOver() throws {
        var harness = try MachineHarness { configuration in
            configuration.authentication.token = Self.token(Self.expr)
            configuration.authentication.time = Self.now
        }
        try harness.secure(bindings: [Self.exporter])
        var next = Self.token(Self.expr)
        next.count = 9
        harness.machine.inherit(nil, token: next)
        let request = try harness.receive(Self.offering()).compactMap(\.sent).first
        #expect(request?.firstChild("fast", namespace: Namespace.fast)?["count"] == "9")
    }

    @Test("a token that is refused is forgotten, and the password is used in its place (§4.1)")
    func refused() throws {
        var (harness, _) = try asking(token: Self.token(Self.expr))
        let failure =
            "<failure xmlns='urn:xmpp:sasl:2'><credentials-expired xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/></failure>"
        let actions = try harness.receive(failure)
        #expect(news(actions).count == 1 && news(actions)[0] == nil)
        let second = actions.compactMap(\.sent).first
        #expect(second?["mechanism"] == "SCRAM-SHA-1-PLUS")
        #expect(second?.firstChild("fast", namespace: Namespace.fast) == nil)
        let wanted = second?.firstChild("request-token", namespace: Namespace.fast)
        #expect(wanted?["mechanism"] == "HT-SHA-256-EXPR")
        let last = try harness.receive(failure)
        #expect(news(last).isEmpty && last.end != nil && !last.sendsCredentials, "a password is tried once")
    }

    @Test("a server that cannot check tokens just now costs nobody the token (RFC 6120 §6.5.11)")
    func deferred() throws {
        var (harness, _) = try asking(token: Self.token(Self.expr))
        let actions = try harness.receive(
            "<failure xmlns='urn:xmpp:sasl:2'><temporary-auth-failure xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/></failure>"
        )
        #expect(news(actions).isEmpty && actions.end != nil)
    }

    // MARK: Ending one

    /// A machine that is to end a token, with what it asks.
    private func ending(
        _ features: String = offering(), token: LoginToken, configure: (inout StreamConfiguration) -> Void = { _ in }
    ) throws -> (MachineHarness, Element?) {
        try asking(features, token: token) {
            $0.authentication.endsToken = true
            configure(&$0)
        }
    }

    @Test("a token is ended by a login with it that says so, and asks for nothing else (§3.6)")
    func invalidation() throws {
        var (harness, request) = try ending(token: Self.token(Self.expr))
        let fast = request?.firstChild("fast", namespace: Namespace.fast)
        #expect(fast?["invalidate"] == "true" && fast?["count"] == "7")
        #expect(request?["mechanism"] == "HT-SHA-256-EXPR")
        #expect(
            request?.children.map(\.localName).sorted() == ["fast", "initial-response", "user-agent"],
            "no session is asked for, and no other token")
        let success = Self.granted(try Self.proof("Responder", [1, 2, 3]), token: Self.fresh)
        let actions = try harness.receive(success)
        #expect(news(actions).count == 1 && news(actions)[0] == nil, "nothing comes in its place")
        #expect(actions.contains(.emit(.tokenEnded)) && actions.contains(.endStream))
    }

    @Test("who ends a token never logs in with anything else: not where it is refused, nor where it is not taken")
    func invalidationAlone() throws {
        var (harness, _) = try ending(token: Self.token(Self.expr))
        let actions = try harness.receive(
            "<failure xmlns='urn:xmpp:sasl:2'><credentials-expired xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/></failure>"
        )
        #expect(news(actions).count == 1 && news(actions)[0] == nil && !actions.sendsCredentials)
        guard case .authenticationRefused? = actions.end else {
            Issue.record("\(actions)")
            return
        }
        let (untold, request) = try ending(Self.offering(tokens: []), token: Self.token(Self.expr))
        #expect(request == nil && untold.machine.hasEnded)
    }

    @Test("the end of a token that is bound to nothing can be asked for, unless somebody may sit in between (§6)")
    func invalidationUnbound() throws {
        let token = Self.token(Self.none)
        #expect(try ending(token: token).1?["mechanism"] == "HT-SHA-256-NONE")
        let (cut, request) = try ending(token: token) { $0.authentication.policy.hasUsedChannelBinding = true }
        #expect(request == nil && cut.machine.hasEnded)
    }

    // MARK: Getting one

    @Test("the token that is asked for is bound to the channel as well as can be, and as well as the login (§6)")
    func wanted() throws {
        func wanted(
            _ features: String, bindings: [ChannelBindingData] = [Self.exporter, Self.endPoint],
            configure: (inout StreamConfiguration) -> Void = { _ in }
        ) throws -> String? {
            let (_, request) = try asking(features, token: nil, bindings: bindings, configure: configure)
            return request?.firstChild("request-token", namespace: Namespace.fast)?["mechanism"]
        }
        #expect(try wanted(Self.offering()) == "HT-SHA-256-EXPR")
        #expect(try wanted(Self.offering(), bindings: [Self.endPoint]) == "HT-SHA-256-ENDP")
        #expect(try wanted(Self.offering(tokens: ["HT-SHA-256-NONE"])) == nil, "the login is bound")
        #expect(try wanted(Self.offering(["SCRAM-SHA-1"], tokens: ["HT-SHA-256-NONE"])) == "HT-SHA-256-NONE")
        #expect(try wanted(Self.offering(tokens: ["HT-SHA-256-UNIQ"])) == nil)
        #expect(try wanted(Self.offering()) { $0.authentication.wantsToken = false } == nil)
    }

    @Test(
        "a token that was not asked for, has ended, or is none is not kept",
        arguments: [
            ("<token xmlns='urn:xmpp:fast:0' token='n3w' expiry='2001-01-01T00:00:00Z'/>", true),
            ("<token xmlns='urn:xmpp:fast:0' token='n3w' expiry='soon'/>", true),
            ("<token xmlns='urn:xmpp:fast:0' token='' expiry='2027-01-15T08:00:00Z'/>", true),
            (fresh, false),
        ])
    func notKept(token: String, wantsToken: Bool) throws {
        var (harness, _) = try asking(Self.offering(["PLAIN"]), token: nil) {
            $0.authentication.wantsToken = wantsToken
        }
        let actions = try harness.receive(Self.granted(nil, token: token))
        #expect(actions.end == nil && news(actions).isEmpty)
    }

    @Test("no description holds a token")
    func description() {
        let token = Self.token(Self.expr)
        #expect(!"\(token)".contains("t0k") && !String(reflecting: token).contains("t0k"))
    }
}
