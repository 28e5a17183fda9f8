// SPDX-License-Identifier: Apache-2.0

internal import SocketIO

/// Why there is no WebSocket with a server.
package enum WebSocketError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The answer has another status than 101: the code and its reason.
    case refused(status: Int, reason: String)
    /// What answers does not speak HTTP/1.1.
    case notHTTP
    /// The answer agrees to something else than what was asked for: what is wrong with it.
    case wrongAnswer(String)
    /// The server does not take the subprotocol `xmpp`: the one it named, if any.
    case noXMPP(String?)
    /// The handshake was not done in time.
    case timedOut(within: Duration)
    /// The connection ended during the handshake.
    case connectionLost(String)

    /// What happened, and what to do about it.
    package var description: String {
        switch self {
        case .refused(let status, let reason):
            "the web server refuses a WebSocket: \(status) \(PrintableText.clean(reason))"
                + (status == 404 ? "; check the path in the address" : "")
        case .notHTTP: "what answers there is no web server"
        case .wrongAnswer(let fault): "the web server's answer to the WebSocket handshake is wrong: \(fault)"
        case .noXMPP(nil): "the WebSocket there is not for XMPP; check the path in the address"
        case .noXMPP(let other?): "the WebSocket there is for \(PrintableText.clean(other)), not for XMPP"
        case .timedOut(let time): "no answer to the WebSocket handshake within \(time.spoken)"
        case .connectionLost(let reason): "the connection was lost during the WebSocket handshake: \(reason)"
        }
    }
}
