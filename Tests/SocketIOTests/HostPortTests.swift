// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SocketIO

@Suite("A host and a port (RFC 3986 §3.2)")
struct HostPortTests {
    @Test(
        "are read and written",
        arguments: [
            ("example.org", "example.org", nil), ("Example.ORG:5281", "example.org", 5_281),
            ("a_b-c.d:1", "a_b-c.d", 1),
            ("192.0.2.1:65535", "192.0.2.1", 65_535), ("[::1]", "::1", nil), ("[2001:db8::1]:443", "2001:db8::1", 443),
            (String(repeating: "h", count: 253), String(repeating: "h", count: 253), nil),
        ] as [(String, String, UInt16?)])
    func reading(text: String, host: String, port: UInt16?) throws {
        let place = try #require(HostPort(text))
        #expect(place.host == host && place.port == port)
        #expect(place.description == text.lowercased())
    }

    @Test(
        "and nothing else is",
        arguments: [
            "", ":", ":1", "h:", "h:0", "h:65536", "h:+1", "h:-1", "h:1:2", "h:x", ".h", "::1", "[::1", "::1]", "[::g]",
            "[]",
            "[h]", "[127.0.0.1]", "[::1]x", "[::1]:", "[fe80::1%eth0]", "a b", "u@h", "h/", "h?", "bücher.example",
            "h\u{0}",
            "h\r\n", String(repeating: "h", count: 254),
        ])
    func junk(text: String) {
        #expect(HostPort(text) == nil)
    }
}
