// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SocketIO

@Suite struct SocketAddressTests {
    @Test(
        "address literals are read and written, and loopback is known",
        arguments: [
            ("127.0.0.1", "127.0.0.1:5222", true),
            ("127.8.9.10", "127.8.9.10:5222", true),
            ("192.0.2.1", "192.0.2.1:5222", false),
            ("128.0.0.1", "128.0.0.1:5222", false),
            ("::1", "[::1]:5222", true),
            ("[::1]", "[::1]:5222", true),
            ("::", "[::]:5222", false),
            ("2001:DB8::0:1", "[2001:db8::1]:5222", false),
            ("::ffff:127.0.0.1", "[::ffff:127.0.0.1]:5222", true),
            ("::ffff:192.0.2.1", "[::ffff:192.0.2.1]:5222", false),
        ])
    func literals(text: String, description: String, isLoopback: Bool) throws {
        let address = try #require(SocketAddress(literal: text, port: 5222))
        #expect(address.description == description)
        #expect(address.isLoopback == isLoopback)
        #expect(address.port == 5222)
        #expect(SocketAddress(hostBytes: address.hostBytes, port: 5222) == address)
    }

    @Test(
        "what is no address literal is refused",
        arguments: ["", "localhost", "1.2.3", "1.2.3.4.5", "::g", "[1.2.3.4", "1.2.3.4 "])
    func noLiteral(text: String) {
        #expect(SocketAddress(literal: text, port: 1) == nil)
    }

    @Test("a Unix path of 107 bytes is the longest; empty ones and NULs are refused")
    func unixPaths() {
        #expect(SocketAddress(unixPath: String(repeating: "a", count: 107))?.host.utf8.count == 107)
        #expect(SocketAddress(unixPath: String(repeating: "a", count: 108)) == nil)
        #expect(SocketAddress(unixPath: "") == nil)
        #expect(SocketAddress(unixPath: "a\u{0}b") == nil)
        #expect(SocketAddress(unixPath: "/run/x")?.description == "/run/x")
        #expect(SocketAddress(unixPath: "/run/x")?.isLoopback == true)
    }
}
