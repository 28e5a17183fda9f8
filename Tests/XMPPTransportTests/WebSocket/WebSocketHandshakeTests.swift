// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import XMPPTransport

@Suite("The opening handshake of a WebSocket")
struct WebSocketHandshakeTests {
    /// Key and proof of RFC 6455 §1.3.
    private static let key = "dGhlIHNhbXBsZSBub25jZQ=="
    private static let proof = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
    private static let good = [
        "HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade",
        "Sec-WebSocket-Accept: \(proof)", "Sec-WebSocket-Protocol: xmpp",
    ]

    private func head(_ lines: [String]) throws -> HTTPHead {
        try #require(try HTTPHead.read(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)[...])).head
    }

    @Test("the server proves that it has read the key (RFC 6455 §1.3)")
    func proof() throws {
        #expect(WebSocketHandshake.proof(of: Self.key) == Self.proof)
        try WebSocketHandshake.check(head(Self.good), key: Self.key)
    }

    @Test("the answer to our own request is the one we take, and each request has a key of its own")
    func both() throws {
        let key = WebSocketHandshake.makeKey()
        #expect(key != WebSocketHandshake.makeKey())
        let request = WebSocketHandshake.request(host: "example.org", path: "/ws?x=1", key: key)
        let (asked, _) = try #require(try HTTPHead.read(request[...]))
        let (bytes, isAgreement) = WebSocketHandshake.answer(to: asked, path: "/ws?x=1")
        #expect(isAgreement)
        try WebSocketHandshake.check(#require(try HTTPHead.read(bytes[...])).head, key: key)
        #expect(!WebSocketHandshake.answer(to: asked, path: "/other").isAgreement)
    }

    @Test(
        "an answer that is not exactly the one asked for is refused, and the reason is told (RFC 6455 §4.1, RFC 7395 §3.1)"
    )
    func refusals() throws {
        func error(_ index: Int, _ line: String?) throws -> WebSocketError? {
            var lines = Self.good
            if let line { lines[index] = line } else { lines.remove(at: index) }
            let answer = try head(lines)
            do throws(WebSocketError) {
                try WebSocketHandshake.check(answer, key: Self.key)
                return nil
            } catch {
                return error
            }
        }
        #expect(try error(0, "HTTP/1.1 404 Not Found") == .refused(status: 404, reason: "Not Found"))
        #expect(try error(0, "SSH-2.0-OpenSSH") == .notHTTP)
        for line in [nil, "Upgrade: h2c"] {
            #expect(try error(1, line) == .wrongAnswer("it does not switch to WebSocket"))
        }
        #expect(try error(2, "Connection: close") == .wrongAnswer("it does not switch to WebSocket"))
        for line in [nil, "Sec-WebSocket-Accept: AAAA", "Sec-WebSocket-Accept: \(Self.proof.lowercased())"] {
            guard case .wrongAnswer? = try error(3, line) else {
                Issue.record("\(line ?? "no proof") was taken")
                continue
            }
        }
        #expect(try error(4, nil) == .noXMPP(nil))
        #expect(try error(4, "Sec-WebSocket-Protocol: chat") == .noXMPP("chat"))
        #expect(try error(4, "Sec-WebSocket-Protocol: xmpp, chat") == .noXMPP("xmpp"))
        guard case .wrongAnswer? = try error(4, "Sec-WebSocket-Extensions: permessage-deflate") else {
            Issue.record("an extension that nobody asked for was taken")
            return
        }
    }
}
