// SPDX-License-Identifier: Apache-2.0

internal import XMPPCrypto

/// The opening handshake of a WebSocket for XMPP, without I/O (RFC 6455 §4, RFC 7395 §3.1).
enum WebSocketHandshake {
    /// The subprotocol.
    static let subprotocol = "xmpp"
    /// RFC 6455 §1.3: what the server appends to the key to show that it has read it.
    private static let salt = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    /// A fresh key: 16 random bytes in Base64.
    static func makeKey() -> String {
        Base64.encode(SecureRandom().bytes(16))
    }

    /// What proves that a server has read the key.
    static func proof(of key: String) -> String {
        (try? Digest.sha1.hash(key + salt)).map(Base64.encode) ?? ""
    }

    /// The client's request.
    ///
    /// - Parameters:
    ///   - host: The host of the address, with its port where that is not 443.
    ///   - path: The path of the address, with its query; begins with `/`.
    ///   - key: From ``makeKey()``.
    static func request(host: String, path: String, key: String) -> [UInt8] {
        let lines = [
            "GET \(path) HTTP/1.1", "Host: \(host)", "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Key: \(key)", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Protocol: \(subprotocol)",
        ]
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    /// Checks the server's answer (RFC 6455 §4.1, RFC 7395 §3.1).
    static func check(_ answer: HTTPHead, key: String) throws(WebSocketError) {
        guard let status = answer.status else { throw WebSocketError.notHTTP }
        guard status.code == 101 else { throw WebSocketError.refused(status: status.code, reason: status.reason) }
        guard answer.lists("websocket", in: "upgrade"), answer.lists("upgrade", in: "connection") else {
            throw WebSocketError.wrongAnswer("it does not switch to WebSocket")
        }
        guard answer.values("sec-websocket-accept") == [proof(of: key)] else {
            throw WebSocketError.wrongAnswer("it does not fit the question: something in between repeats old answers")
        }
        guard answer.members("sec-websocket-extensions").isEmpty else {
            throw WebSocketError.wrongAnswer("it switches extensions on that nobody asked for")
        }
        let protocols = answer.members("sec-websocket-protocol")
        guard protocols == [subprotocol] else { throw WebSocketError.noXMPP(protocols.first) }
    }

    /// A server's answer to a request: the answer, and whether it is an agreement.
    static func answer(
        to request: HTTPHead, path: String, documents: [String: WebReply] = [:]
    ) -> (bytes: [UInt8], isAgreement: Bool) {
        guard let line = request.request, line.method == "GET" else {
            return (refusal("405 Method Not Allowed"), false)
        }
        if let document = documents[line.target] { return (Self.answer(document), false) }
        guard line.target == path else { return (refusal("404 Not Found"), false) }
        guard request.lists("websocket", in: "upgrade"), request.lists("upgrade", in: "connection"),
            request.values("sec-websocket-version") == ["13"], request.values("host").count == 1,
            let key = request.values("sec-websocket-key").first, Base64.decode(key)?.count == 16
        else { return (refusal("400 Bad Request"), false) }
        var lines = [
            "HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Accept: \(proof(of: key))",
        ]
        // RFC 7395 §3.1: without the subprotocol in the request there is none in the answer; the client has to leave.
        if request.members("sec-websocket-protocol").contains(subprotocol) {
            lines.append("Sec-WebSocket-Protocol: \(subprotocol)")
        }
        return (Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8), true)
    }

    private static func refusal(_ status: String) -> [UInt8] { answer(WebReply(status: status)) }

    private static func answer(_ reply: WebReply) -> [UInt8] {
        let lines =
            ["HTTP/1.1 \(reply.status)"] + reply.fields
            + ["Content-Length: \(reply.body.count)", "Connection: close", "", ""]
        return Array(lines.joined(separator: "\r\n").utf8) + reply.body
    }
}
