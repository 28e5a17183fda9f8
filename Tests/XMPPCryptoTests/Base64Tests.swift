// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import XMPPCrypto

@Suite struct Base64Tests {
    @Test("only the canonical encoding is decoded (RFC 6120 §13.9.1)", arguments: CryptoVectors.all.base64)
    func vectors(row: CryptoVectors.Encoding) {
        #expect(Base64.decode(row.input) == (row.valid ? octets(row.hex ?? "") : nil))
    }

    @Test("the published encodings hold both ways (RFC 4648 §10)", arguments: ["", "f", "fo", "foo", "foob", "foobar"])
    func published(text: String) {
        let encoded = Data(text.utf8).base64EncodedString()
        #expect(Base64.encode(Array(text.utf8)) == encoded)
        #expect(Base64.decode(encoded) == Array(text.utf8))
    }

    @Test("random octets survive the round trip, and match an independent encoder")
    func roundTrip() {
        var generator = FixedGenerator(state: 1)
        for length in 0..<400 {
            let bytes = (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            let encoded = Base64.encode(bytes)
            #expect(encoded == Data(bytes).base64EncodedString())
            #expect(Base64.decode(encoded) == bytes)
        }
    }

    @Test("whatever is decoded encodes to the same text again: no second spelling is taken")
    func canonical() {
        var generator = FixedGenerator(state: 2)
        let letters = Array("ABab019+/==== \n-_é".unicodeScalars).map(String.init)
        var accepted = 0
        for _ in 0..<50_000 {
            let text = (0..<Int.random(in: 0...9, using: &generator)).map { _ in
                letters.randomElement(using: &generator) ?? ""
            }.joined()
            guard let bytes = Base64.decode(text) else { continue }
            accepted += 1
            #expect(Base64.encode(bytes) == text)
        }
        #expect(accepted > 100)
    }

    @Test("any pad bit set behind the last octet is refused (RFC 6120 §6.3.5)")
    func padBits() {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        #expect(alphabet.filter { Base64.decode("Z\($0)==") != nil } == Array("AQgw"))
        #expect(alphabet.filter { Base64.decode("Zm\($0)=") != nil }.count == 16)
    }
}
