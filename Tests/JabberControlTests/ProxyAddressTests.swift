// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import JabberControl

@Suite("The address of a proxy")
struct ProxyAddressTests {
    @Test(
        "is read as it is written, with the usual port where none is named",
        arguments: [
            ("socks5://127.0.0.1:9050", .socks5, "127.0.0.1", 9_050, nil, nil),
            ("SOCKS5://Proxy.Example", .socks5, "proxy.example", 1_080, nil, nil),
            ("socks5h://localhost/", .socks5, "localhost", 1_080, nil, nil),
            ("http://[::1]:3128", .http, "::1", 3_128, nil, nil), ("http://[::1]", .http, "::1", 8_080, nil, nil),
            ("http://me@proxy.example", .http, "proxy.example", 8_080, "me", nil),
            ("http://me:@proxy.example:1", .http, "proxy.example", 1, "me", ""),
            ("socks5://m%40e:p%3Aa%20%C3%A9:x@h:65535", .socks5, "h", 65_535, "m@e", "p:a é:x"),
            ("socks5://a:b@c@h:1", .socks5, "h", 1, "a", "b@c"),
        ] as [(String, ProxyAddress.Scheme, String, UInt16, String?, String?)])
    func reading(
        text: String, scheme: ProxyAddress.Scheme, host: String, port: UInt16, username: String?, password: String?
    ) throws {
        let address = try #require(ProxyAddress(text))
        #expect(address.scheme == scheme && address.host == host && address.port == port)
        #expect(address.username == username && address.password == password)
        let shown = try #require(ProxyAddress(address.publicText))
        #expect(shown.password == nil && shown.username == username && shown.host == host && shown.port == port)
    }

    @Test(
        "that is none is none",
        arguments: [
            "", "127.0.0.1:9050", "socks4://h:1", "https://h:1", "socks5:h", "socks5://", "socks5://:1", "http://h:0",
            "http://h:65536", "http://h:+1", "http://h:", "http://h:1/path", "http://h?x", "http://h#x", "http://[::1",
            "http://[h]:1", "http://::1", "http://a b", "http://:pw@h", "http://@h", "http://m%4@h", "http://m%+4@h",
            "http://m%FF@h", "http://h\u{7}", "http://bücher.example", "http://.h",
            "http://" + String(repeating: "h", count: 254), "http://a:" + String(repeating: "p", count: 2_040) + "@h",
        ])
    func junk(text: String) {
        #expect(ProxyAddress(text) == nil)
    }
}
