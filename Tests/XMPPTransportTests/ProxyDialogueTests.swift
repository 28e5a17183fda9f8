// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCrypto

@testable import XMPPTransport

@Suite("What is said to a proxy")
struct ProxyDialogueTests {
    private static let target = ConnectionTarget(host: "xmpp.example.org", port: 5222)
    private static let host = Array("xmpp.example.org".utf8)
    private static let consent: [UInt8] = [5, 0, 0, 1, 0, 0, 0, 0, 0, 0]

    private static func proxy(_ kind: Proxy.Kind, _ username: String? = nil, _ password: String? = nil) -> Proxy {
        Proxy(
            kind, host: "127.0.0.1", port: 9050, username: username, password: password.map { SecretBytes($0) })
    }

    /// Lets a proxy say something piece by piece, whole and byte by byte; both have to come to the same.
    private func run(
        _ proxy: Proxy, _ answers: [[UInt8]], to target: ConnectionTarget = Self.target
    ) -> [ProxyAction] {
        func play(isDripping: Bool) -> [ProxyAction] {
            var dialogue = proxy.dialogue(to: target)
            var actions = dialogue.connected()
            for answer in answers {
                for piece in isDripping ? answer.map({ [$0] }) : [answer] { actions += dialogue.received(piece) }
            }
            return actions
        }
        let whole = play(isDripping: false)
        guard answers.joined().count < 2_000 else { return whole }
        switch whole.last {
        // What comes too soon is found only where it comes together with the rest; otherwise it is the server's.
        case .failed(let error) where error.description.contains("more than"): break
        // A refusal is heard as soon as it shows, before all of it is there.
        case .failed: #expect(self.failure(of: play(isDripping: true)) != nil)
        default: #expect(play(isDripping: true) == whole)
        }
        return whole
    }

    private func failure(of actions: [ProxyAction]) -> ProxyError? {
        if case .failed(let error)? = actions.last { error } else { nil }
    }

    @Test("SOCKS 5 gets the name of the host and not its address (RFC 1928 §3, §4)")
    func name() {
        let request: [UInt8] = [5, 1, 0, 3, 16] + Self.host + [0x14, 0x66]
        #expect(
            run(Self.proxy(.socks5), [[5, 0], Self.consent]) == [.send([5, 1, 0]), .send(request), .connected])
    }

    @Test(
        "an address goes as what it is (RFC 1928 §4)",
        arguments: [
            ("192.0.2.1", [1, 192, 0, 2, 1]),
            ("2001:db8::1", [4, 0x20, 1, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
        ] as [(String, [UInt8])])
    func literals(host: String, address: [UInt8]) {
        let actions = run(Self.proxy(.socks5), [[5, 0]], to: ConnectionTarget(host: host, port: 80))
        #expect(actions.last == .send([5, 1, 0] + address + [0, 80]))
    }

    @Test(
        "where the proxy connects from is passed over, in each of its forms (RFC 1928 §6)",
        arguments: [
            [1, 192, 0, 2, 1, 0, 80], [4] + [UInt8](repeating: 7, count: 16) + [0, 80], [3, 2, 0x61, 0x62, 0, 80],
            [3, 0, 0, 80],
        ] as [[UInt8]])
    func boundAddresses(address: [UInt8]) {
        #expect(run(Self.proxy(.socks5), [[5, 0], [5, 0, 0] + address]).last == .connected)
    }

    @Test("a name and a password are offered where there are some, and said where they are wanted (RFC 1929 §2)")
    func socksLogin() {
        let proxy = Self.proxy(.socks5, "me", "pw")
        let actions = run(proxy, [[5, 2], [1, 0], Self.consent])
        #expect(actions.first == .send([5, 2, 0, 2]))
        #expect(actions.dropFirst().first == .send([1, 2, 0x6D, 0x65, 2, 0x70, 0x77]))
        #expect(actions.last == .connected)
        #expect(run(proxy, [[5, 0], Self.consent]).count == 3, "the proxy may do without")
        #expect(failure(of: run(proxy, [[5, 2], [1, 1]])) == ProxyError(.login, .loginRefused))
        #expect(failure(of: run(Self.proxy(.socks5), [[5, 0xFF]])) == ProxyError(.greeting, .loginNeeded([])))
    }

    @Test("CONNECT names the place, and the user where there is one (RFC 9110 §9.3.6, RFC 7617 §2)")
    func connect() {
        func said(_ proxy: Proxy, _ target: ConnectionTarget) -> String {
            if case .send(let bytes)? = run(proxy, [], to: target).first {
                String(decoding: bytes, as: UTF8.self)
            } else {
                ""
            }
        }
        #expect(
            said(Self.proxy(.http), Self.target)
                == "CONNECT xmpp.example.org:5222 HTTP/1.1\r\nHost: xmpp.example.org:5222\r\n\r\n")
        #expect(
            said(Self.proxy(.http, "Aladdin", "open sesame"), Self.target).hasSuffix(
                "\r\nProxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n\r\n"))
        let webSocket = ConnectionTarget(host: "2001:db8::1", security: .webSocket(path: "/ws"))
        #expect(said(Self.proxy(.http), webSocket).hasPrefix("CONNECT [2001:db8::1]:443 HTTP/1.1\r\n"))
    }

    @Test(
        "every answer of the two hundreds is consent, interim ones are passed over (RFC 9110 §9.3.6, §15.2)",
        arguments: [
            "HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n", "HTTP/1.0 200\r\n\r\n",
            "HTTP/1.1 299 x\r\nContent-Length: 5\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        ])
    func agreement(answer: String) {
        #expect(run(Self.proxy(.http), [Array(answer.utf8)]).last == .connected)
    }

    @Test(
        "a proxy that refuses, lies, or says too much is told as what it is, with the step",
        arguments: [
            (.socks5, [[4, 0]], .greeting, "SOCKS 5"), (.socks5, [[5, 2]], .greeting, "not offered"),
            (.socks5, [[5, 1]], .greeting, "not offered"), (.socks5, [[5, 0, 0x3C]], .greeting, "more than"),
            (.socks5, [[5, 0], [5, 5]], .request, "refused"), (.socks5, [[5, 0], [5, 99]], .request, "error 99"),
            (.socks5, [[5, 0], [4, 0]], .request, "SOCKS 5"),
            (.socks5, [[5, 0], [5, 0, 0, 9, 0]], .request, "unknown"),
            (.socks5, [[5, 0], Self.consent + [0x3C]], .request, "more than"),
            (.socks5, [Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)], .greeting, "SOCKS 5"),
            (.http, [Array("HTTP/1.1 403 No\r\n\r\n".utf8)], .request, "403 No"),
            (.http, [Array("HTTP/1.1 301 Moved\r\nLocation: x\r\n\r\n".utf8)], .request, "301"),
            (.http, [Array("HTTP/1.1 101 Switching Protocols\r\n\r\n".utf8)], .request, "101"),
            (.http, [Array("HTTP/1.1 407 x\r\n\r\n".utf8)], .request, "wants a name"),
            (.http, [Array("HTTP/1.1 407 x\r\nProxy-Authenticate: NTLM\r\n\r\n".utf8)], .request, "another kind: NTLM"),
            (.http, [Array("HTTP/1.1 xyz\r\n\r\n".utf8)], .request, "without a status"),
            (.http, [Array("HTTP/1.1 502 \u{1b}[2J\r\n\r\n".utf8)], .request, "cannot be read"),
            (.http, [Array("HTTP/1.1 502 a\u{202E}b\r\n\r\n".utf8)], .request, "a\u{FFFD}b"),
            (.http, [Array("SSH-2.0-x\r\n".utf8)], .request, "in HTTP"), (.http, [[5, 0xFF]], .request, "in HTTP"),
            (.http, [Array("HTTP/1.1 200 OK\r\n\r\n<stream:stream>".utf8)], .request, "more than"),
            (
                .http, [Array("HTTP/1.1 200 OK\r\n".utf8) + [UInt8](repeating: 0x61, count: 20_000)], .request,
                "without end"
            ),
        ] as [(Proxy.Kind, [[UInt8]], ProxyError.Phase, String)])
    func failures(kind: Proxy.Kind, answers: [[UInt8]], phase: ProxyError.Phase, words: String) throws {
        let error = try #require(failure(of: run(Self.proxy(kind), answers)))
        #expect(error.phase == phase && error.description.contains(words), "\(error)")
    }

    @Test("interim answers come to an end")
    func interim() {
        let interim = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)
        let consent = Array("HTTP/1.1 200 OK\r\n\r\n".utf8)
        let most = Array(repeating: interim, count: ConnectDialogue.maximumInterimAnswers)
        #expect(run(Self.proxy(.http), most + [consent]).last == .connected)
        #expect(failure(of: run(Self.proxy(.http), most + [interim, consent])) != nil)
    }

    @Test("a login that the proxy refuses is a matter of the settings, a place that it cannot reach is not")
    func concerns() {
        let refused = run(Self.proxy(.http, "a", "b"), [Array("HTTP/1.1 407 x\r\n\r\n".utf8)])
        #expect(failure(of: refused) == ProxyError(.request, .loginRefused))
        let other = run(Self.proxy(.http, "a", "b"), [Array("HTTP/1.0 401 Unauthorized\r\n\r\n".utf8)])
        #expect(failure(of: other) == ProxyError(.request, .loginRefused))
        #expect(failure(of: refused)?.concernsSettings == true && failure(of: refused)?.concernsTarget == false)
        let dead = failure(of: run(Self.proxy(.socks5), [[5, 0], [5, 4]]))
        #expect(dead?.concernsTarget == true && dead?.concernsSettings == false)
        #expect(!ProxyError(.greeting, .silent(.seconds(20))).concernsTarget)
        #expect(ProxyError(.request, .closed("")).concernsTarget)
    }

    @Test("what a protocol has no room for is not sent, neither cut nor as something else")
    func unusable() {
        func name(_ count: Int) -> String { String(repeating: "n", count: count) }
        func isUnusable(_ actions: [ProxyAction]) -> Bool {
            if case .unusable? = failure(of: actions)?.reason { true } else { false }
        }
        func target(_ host: String) -> ConnectionTarget { ConnectionTarget(host: host, port: 1) }
        #expect(!isUnusable(run(Self.proxy(.socks5), [[5, 0]], to: target(name(255)))))
        #expect(isUnusable(run(Self.proxy(.socks5), [[5, 0]], to: target(name(256)))))
        #expect(!isUnusable(run(Self.proxy(.socks5, name(255), name(255)), [[5, 2]])))
        for (user, password) in [(name(256), ""), ("a", name(256)), ("", "b")] {
            #expect(isUnusable(run(Self.proxy(.socks5, user, password), [[5, 2]])))
        }
        #expect(!isUnusable(run(Self.proxy(.http, name(255), name(255)), [])))
        for (user, password) in [("a:b", "c"), (name(256), ""), ("a", name(256))] {
            #expect(isUnusable(run(Self.proxy(.http, user, password), [])))
        }
        for host in ["a b", "a\r\nX: y", "a/b", "user@host", "müller.example"] {
            #expect(isUnusable(run(Self.proxy(.http), [], to: target(host))))
        }
    }

    @Test("neither name nor password is in what is told of a proxy")
    func description() {
        #expect("\(Self.proxy(.socks5, "me", "secret"))" == "socks5://127.0.0.1:9050")
        let error = ConnectError.proxyFailed(
            proxy: "\(Self.proxy(.http, "me", "secret"))", target: "a:1", ProxyError(.request, .loginRefused))
        #expect(
            "\(error)" == "no way through the proxy http://127.0.0.1:9050 to a:1: it refuses the name and the password")
    }
}
