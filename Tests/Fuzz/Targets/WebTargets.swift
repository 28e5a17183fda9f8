// SPDX-License-Identifier: Apache-2.0

import JabberControl
import SocketIO
import XMPP

@testable import XMPPTransport

extension FuzzTarget {
    /// The answer of a web server: its head is there when all of it is, and not before, and what the body is does not
    /// change when the end is known (RFC 9112).
    static let http = FuzzTarget(
        name: "http",
        seeds: {
            [
                "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", "HTTP/1.1 200 \r\nA: b\r\n\r\n",
                "HTTP/1.0 407 No\n\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\n\r\n",
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n\r\n",
                "GET /xmpp HTTP/1.1\r\nHost: a\r\n\r\n",
            ].map { Array($0.utf8) }
        }
    ) { bytes in
        let found = Result { try HTTPHead.read(bytes[...]) }
        let end = (try? found.get())?.count ?? bytes.count
        for length in [0, bytes.count / 4, bytes.count / 2, end - 1] where length >= 0 {
            switch (Result { try HTTPHead.read(bytes.prefix(length)) }, found) {
            case (.success(nil), _), (.failure, .failure): break
            case (.success(let part?), .success(let whole?)):
                try require(part.count == whole.count, "another head in the first \(length) bytes")
            case (.success(_?), _), (.failure, .success):
                throw BrokenRule(description: "the first \(length) bytes are judged otherwise than all")
            }
        }
        guard case .success(let whole?) = found else { return }
        let (head, count) = whole
        try require(head.fields.count <= HTTPHead.maximumFields, "\(head.fields.count) fields")
        if let status = head.status { try require((100...999).contains(status.code), "a status of \(status.code)") }
        guard let body = try? HTTPBody(head) else { return }
        let rest = bytes[count...]
        let early = (try? body.read(rest, isEnd: false)) ?? nil
        let last = (try? body.read(rest, isEnd: true)) ?? nil
        try require((last?.count ?? 0) <= rest.count, "a body of more bytes than have come")
        try require(early == nil || early == last, "another body when the end is known")
    }

    /// A letter for what is spoken, and what a proxy says, in whole and byte by byte: it leads to one end, and nothing
    /// follows that.
    static let proxy = FuzzTarget(
        name: "proxy",
        seeds: {
            [[0x05, 0x00], [0x05, 0x02, 0x01, 0x00], [0x05, 0xFF]].map { [UInt8(ascii: "s")] + $0 }
                + [
                    Array("s\u{5}\u{0}\u{5}\u{0}\u{0}\u{1}\u{1}\u{1}\u{1}\u{1}\u{0}\u{50}".utf8),
                    Array("hHTTP/1.1 200 OK\r\n\r\n".utf8),
                    Array("hHTTP/1.1 407 No\r\nProxy-Authenticate: Basic\r\n\r\n".utf8),
                    Array("hHTTP/1.1 100 Go on\r\n\r\nHTTP/1.1 200 OK\r\n\r\n".utf8),
                ]
        }
    ) { bytes in
        guard let letter = bytes.first else { return }
        let said = bytes.dropFirst()
        let kind: Proxy.Kind = letter == UInt8(ascii: "s") ? .socks5 : .http
        let target = ConnectionTarget(host: "im.example.com", port: 5_222)
        for username in [nil, "me"] {
            for size in [1, 3, max(1, said.count)] {
                var dialogue = Proxy(kind, host: "proxy", port: 1, username: username).dialogue(to: target)
                var hasEnded = false
                func take(_ actions: [ProxyAction]) throws(BrokenRule) {
                    for action in actions {
                        try require(!hasEnded, "after the end: \(action)")
                        switch action {
                        case .send(let words):
                            try require((1...1_024).contains(words.count), "\(words.count) bytes are sent")
                        case .connected: hasEnded = true
                        case .failed(let error):
                            try require(!"\(error)".hasControls, "a reason that is not fit for a terminal")
                            hasEnded = true
                        }
                    }
                }
                try take(dialogue.connected())
                var rest = said
                while !rest.isEmpty {
                    try take(dialogue.received(Array(rest.prefix(size))))
                    rest = rest.dropFirst(size)
                }
            }
        }
    }

    /// What a server sends over a WebSocket: the messages are the same however the bytes are cut (RFC 6455 §5).
    static let webSocket = FuzzTarget(
        name: "web-socket",
        seeds: {
            [
                [0x81, 5] + Array("hello".utf8), [0x01, 2] + Array("he".utf8) + [0x80, 1, 0x79],
                [0x89, 0, 0x81, 0], [0x88, 4, 0x03, 0xE8] + Array("ok".utf8),
                [0x88, 9, 0x03, 0xE8] + Array("abécde".utf8), [0x82, 1, 0], [0x81, 126, 0, 1, 0x41],
                [0x81, 0x85, 1, 2, 3, 4, 0x69, 0x67, 0x6F, 0x68, 0x6E],
            ]
        }
    ) { bytes in
        func read(_ size: Int) throws -> (events: [WebSocketEngine.Event], isBroken: Bool, output: Int) {
            let engine = try WebSocketEngine(isServer: false, maximumMessageBytes: 300)
            var events: [WebSocketEngine.Event] = []
            var (rest, output) = (bytes[...], 0)
            while !rest.isEmpty {
                do throws(WebSocketEngine.Violation) {
                    events += try engine.feed(rest.prefix(size))
                } catch {
                    return (events, true, output + engine.takeOutput().count)
                }
                output += engine.takeOutput().count
                rest = rest.dropFirst(size)
            }
            return (events, false, output)
        }
        let whole = try read(max(1, bytes.count))
        for case .message(let text) in whole.events {
            try require(text.count <= 300 && String(validating: text, as: UTF8.self) != nil, "a message that is none")
        }
        for case .closed(_, let reason) in whole.events { try require(!reason.hasControls, "a reason with controls") }
        for size in [1, 7] {
            let cut = try read(size)
            try require(cut.isBroken == whole.isBroken, "broken in pieces of \(size): \(cut.isBroken)")
            try require(cut.isBroken || cut.events == whole.events, "other messages in pieces of \(size)")
            // A pong is no longer than its ping.
            try require(cut.output <= 8 * bytes.count + 200, "\(cut.output) bytes of answers to \(bytes.count)")
        }
    }

    /// Any text as an address of the web: what is read is written so that it is read the same (RFC 3986 §3).
    static let address = FuzzTarget(
        name: "address",
        seeds: {
            [
                "example.org:5281", "[2001:db8::1]:443", "wss://Example.org/ws?x=y", "wss://[::1]:1",
                "socks5://127.0.0.1:9050",
                "http://m%40e:p%3Aa@h:3128/", "socks5h://h",
            ].map { Array($0.utf8) }
        }
    ) { bytes in
        guard let text = String(validating: bytes, as: UTF8.self) else { return }
        if let place = HostPort(text) {
            try require(HostPort(place.description) == place, "\(place) is read otherwise")
            try require(!place.host.isEmpty && place.host.allSatisfy(\.isASCII) && place.port != 0, "\(place)")
        }
        if let address = WebSocketAddress(text) {
            try require(WebSocketAddress(address.description) == address, "\(address) is read otherwise")
            try require(address.path.utf8.first == UInt8(ascii: "/") && !address.description.hasControls, "\(address)")
        }
        if let address = ProxyAddress(text) {
            let shown = address.publicText
            let again = ProxyAddress(shown)
            try require(
                again?.host == address.host && again?.port == address.port && again?.username == address.username
                    && again?.scheme == address.scheme && again?.password == nil, "\(shown) is read otherwise")
            try require(!shown.hasControls, "an address that is not fit for a terminal")
        }
    }
}
