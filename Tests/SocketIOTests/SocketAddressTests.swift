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
        "private addresses are those that mean something else in each network, up to their limits (RFC 1918, RFC 4193)",
        arguments: [
            ("10.0.0.1", true), ("11.0.0.1", false), ("172.15.0.1", false), ("172.16.0.1", true),
            ("172.31.255.1", true),
            ("172.32.0.1", false), ("192.168.0.1", true), ("192.169.0.1", false), ("169.254.1.1", true),
            ("100.63.0.1", false), ("100.64.0.1", true), ("100.127.0.1", true), ("100.128.0.1", false),
            ("127.0.0.1", true),
            ("192.0.2.1", false), ("::1", true), ("fbff::1", false), ("fc00::1", true), ("fdff::1", true),
            ("fe00::1", false),
            ("fe7f::1", false), ("fe80::1", true), ("febf::1", true), ("fec0::1", false), ("2001:db8::1", false),
            ("::ffff:10.0.0.1", true), ("::ffff:192.0.2.1", false),
        ])
    func privateAddresses(text: String, isPrivate: Bool) throws {
        #expect(try #require(SocketAddress(literal: text, port: 5222)).isPrivate == isPrivate)
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
