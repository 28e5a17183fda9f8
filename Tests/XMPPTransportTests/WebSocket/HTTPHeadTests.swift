// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import XMPPTransport

@Suite("The head of an HTTP message")
struct HTTPHeadTests {
    private func read(_ text: String) throws -> HTTPHead? {
        try HTTPHead.read(Array(text.utf8)[...])?.head
    }

    @Test(
        "names are compared without regard to case, values lose the space around them, lists are joined (RFC 9110 §5)")
    func fields() throws {
        let text =
            "HTTP/1.1 101 Switching Protocols\r\nUPGRADE: \t WebSocket \r\nConnection: keep-alive\r\nconnection: Upgrade,x\r\n\r\n<a/>"
        let bytes = Array(text.utf8)
        let (head, count) = try #require(try HTTPHead.read(bytes[...]))
        #expect(Array(bytes.dropFirst(count)) == Array("<a/>".utf8))
        #expect(head.status?.code == 101 && head.status?.reason == "Switching Protocols")
        #expect(head.values("upgrade") == ["WebSocket"])
        #expect(head.members("connection") == ["keep-alive", "Upgrade", "x"])
        #expect(head.lists("upgrade", in: "connection") && !head.lists("websocket", in: "connection"))
    }

    @Test("a sign is one whatever accent stands on what follows it, and nothing else is one (RFC 9110 §5.6, §8.3)")
    func accents() throws {
        func head(_ field: String) throws -> HTTPHead { try #require(try read("HTTP/1.1 200 OK\r\n\(field)\r\n\r\n")) }
        #expect(try head("Content-Type: application/json;\u{301}a").mediaType == "application/json")
        #expect(try head("Content-Type: application/json\u{37E}a").mediaType != "application/json")
        #expect(try head("Connection: a,\u{301}b,upgrade").members("connection").count == 3)
        #expect(try head("A:\u{301}b").values("a").map { Array($0.unicodeScalars) } == [["\u{301}", "b"]])
    }

    @Test("a head that comes byte by byte is the same head")
    func pieces() throws {
        let bytes = Array("HTTP/1.1 200 OK\r\nA: b\r\n\r\n".utf8)
        for count in 0..<bytes.count { #expect(try HTTPHead.read(bytes.prefix(count)) == nil) }
        #expect(try HTTPHead.read(bytes[...])?.head.values("a") == ["b"])
    }

    @Test(
        "what is no head is refused as soon as it shows (RFC 9112)",
        arguments: [
            "HTTP/1.1 200 OK\r\nA : b\r\n\r\n", "HTTP/1.1 200 OK\r\n b\r\n\r\n", "HTTP/1.1 200 OK\r\nA\r\n\r\n",
            "HTTP/1.1 200 OK\r\nA: b\u{0}\r\n\r\n", "HTTP/1.1 200 OK\r\n: b\r\n\r\n", "\r\n\r\n", "A\u{1B}[2J\r\n",
            "HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n",
        ])
    func malformed(_ text: String) {
        #expect(throws: HTTPHead.Fault.malformed) { try read(text) }
    }

    @Test("a head without an end is refused at its limit, be it one line or many")
    func endless() {
        #expect(throws: HTTPHead.Fault.tooLong) { try read("HTTP/1.1 " + String(repeating: "x", count: 17_000)) }
        let lines = String(repeating: "A: b\r\n", count: HTTPHead.maximumFields + 2)
        #expect(throws: HTTPHead.Fault.tooLong) { try read("HTTP/1.1 200 OK\r\n" + lines) }
        #expect(throws: HTTPHead.Fault.tooLong) {
            try read("HTTP/1.1 200 OK\r\nA: " + String(repeating: "x", count: 17_000) + "\r\n\r\n")
        }
    }

    @Test(
        "a start line that is none has neither status nor request",
        arguments: ["HTTP/2 200", "HTTP/1.1 20", "HTTP/1.1 abc x", "HTTP/1.1 099 x", "<stream>", "GET / HTTP/1.0"])
    func startLines(_ line: String) throws {
        let head = try #require(try read(line + "\r\n\r\n"))
        #expect(head.status == nil && head.request == nil)
    }
}
