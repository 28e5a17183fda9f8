// SPDX-License-Identifier: Apache-2.0

import COpenSSL
import Testing

@testable import XMPPTransport

@Suite("What a client offers with its first words (RFC 6120 §13.9.5, BCP 195)")
struct ClientHelloTests {
    /// A ClientHello (RFC 8446 §4.1.2).
    private struct Hello {
        var suites: [UInt16] = []
        var compressions: [UInt8] = []
        var extensions: [UInt16: [UInt8]] = [:]

        init?(_ record: [UInt8]) {
            // Behind the headers of record and message: version, random bytes.
            var rest = record.dropFirst(5 + 4 + 2 + 32)
            guard record.first == 22, Self.block(&rest, length: 1) != nil, let suites = Self.block(&rest, length: 2),
                let compressions = Self.block(&rest, length: 1), var more = Self.block(&rest, length: 2)
            else { return nil }
            self.suites = stride(from: suites.startIndex, to: suites.endIndex - 1, by: 2).map {
                UInt16(suites[$0]) << 8 | UInt16(suites[$0 + 1])
            }
            self.compressions = Array(compressions)
            while let number = Self.number(&more, length: 2) {
                guard let body = Self.block(&more, length: 2) else { return nil }
                extensions[UInt16(number)] = Array(body)
            }
        }

        private static func number(_ rest: inout ArraySlice<UInt8>, length: Int) -> Int? {
            guard rest.count >= length else { return nil }
            defer { rest = rest.dropFirst(length) }
            return rest.prefix(length).reduce(0) { $0 << 8 | Int($1) }
        }

        private static func block(_ rest: inout ArraySlice<UInt8>, length: Int) -> ArraySlice<UInt8>? {
            guard let count = number(&rest, length: length), rest.count >= count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }
    }

    private func hello(_ settings: TLSSettings = TLSSettings()) throws -> (Hello, TLSEngine) {
        let engine = try TLSEngine(
            .client(settings: settings),
            role: .client(ReferenceIdentity(domain: "im.example.com"), offersProtocol: true))
        _ = try engine.advanceHandshake()
        return (try #require(Hello(engine.takeOutput())), engine)
    }

    /// What is wrong with the suites, by name.
    private func flaws(_ hello: Hello, _ engine: TLSEngine) -> [String] {
        hello.suites.compactMap { suite in
            // TLS_EMPTY_RENEGOTIATION_INFO_SCSV (RFC 5746 §3.3) is none.
            guard suite != 0x00FF else { return nil }
            let name = [UInt8(suite >> 8), UInt8(suite & 0xFF)]
            guard let cipher = SSL_CIPHER_find(engine.ssl, name) else { return "\(suite)" }
            let isAnonymous = SSL_CIPHER_get_auth_nid(cipher) == NID_auth_null
            let isWeak = SSL_CIPHER_get_bits(cipher, nil) < 128
            return isAnonymous || isWeak ? String(cString: SSL_CIPHER_get_name(cipher)) : nil
        }
    }

    @Test(
        "suites that encrypt and prove who the server is, TLS 1.2 and 1.3, no compression, nothing before the handshake"
    )
    func offers() throws {
        let (hello, engine) = try hello()
        #expect(hello.suites.count > 2)
        #expect(flaws(hello, engine) == [])
        #expect(hello.compressions == [0])
        // supported_versions (RFC 8446 §4.2.1).
        #expect(hello.extensions[43] == [4, 3, 4, 3, 3])
        #expect(hello.extensions[42] == nil, "early data (RFC 8446 §4.2.10)")
        #expect(hello.extensions[23] == [], "the extended master secret (RFC 7627), without which nothing is bound")
    }

    @Test("one that offered less would be found out here")
    func weak() throws {
        var settings = TLSSettings()
        settings.securityLevel = 0
        settings.cipherList = "aNULL:eNULL"
        let (hello, engine) = try hello(settings)
        #expect(!flaws(hello, engine).isEmpty)
    }
}
