// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import XMPPTransport

@Suite("The body of an HTTP answer")
struct HTTPBodyTests {
    private func read(_ fields: String, _ body: String, isEnd: Bool = false) throws -> String? {
        let text = "HTTP/1.1 200 OK\r\n\(fields)\r\n"
        let head = try #require(try HTTPHead.read(Array(text.utf8)[...])).head
        return try HTTPBody(head).read(Array(body.utf8)[...], isEnd: isEnd).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("its length, its chunks or the end of the connection say where it ends (RFC 9112 §6)")
    func framings() throws {
        #expect(try read("Content-Length: 3\r\n", "abcd") == "abc")
        #expect(try read("Content-Length: 3\r\n", "ab") == nil)
        #expect(try read("Content-Length: 3, 3\r\n", "abc") == "abc")
        #expect(try read("", "abc") == nil)
        #expect(try read("", "abc", isEnd: true) == "abc")
        let chunked = "Transfer-Encoding: Chunked\r\n"
        #expect(try read(chunked, "3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n") == "abc0123456789")
        #expect(try read(chunked + "Content-Length: 1\r\n", "1\nx\n0\n") == "x")
        for part in ["", "3", "3\r\nab", "3\r\nabc", "3\r\nabc\r", "3\r\nabc\r\n", "3\r\nabc\r\n0"] {
            #expect(try read(chunked, part) == nil, "\(part)")
        }
    }

    @Test("what says nothing clear, or ends early, is no body")
    func malformed() {
        for (fields, body) in [
            ("Content-Length: 3\r\nContent-Length: 4\r\n", "abcd"), ("Content-Length: -1\r\n", ""),
            ("Content-Length: +1\r\n", "a"), ("Content-Length: 99999999999999999999\r\n", ""),
            ("Transfer-Encoding: gzip, chunked\r\n", "0\r\n"), ("Transfer-Encoding: chunked\r\n", "x\r\n"),
            ("Transfer-Encoding: chunked\r\n", "FFFFFFFFFF\r\n"), ("Transfer-Encoding: chunked\r\n", "1\r\nabc\r\n"),
            ("Transfer-Encoding: chunked\r\n", String(repeating: "1", count: 100)), ("Content-Length: 3\r\n", "ab"),
        ] {
            #expect(throws: HTTPHead.Fault.malformed, "\(fields)") { try read(fields, body, isEnd: true) }
        }
    }
}
