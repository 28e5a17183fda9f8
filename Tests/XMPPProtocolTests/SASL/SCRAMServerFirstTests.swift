// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCrypto
import XMPPTestSupport

@testable import XMPPProtocol

@Suite struct SCRAMServerFirstTests {
    private func read(_ message: String, limits: SCRAMLimits = SCRAMLimits()) throws -> SCRAMServerFirst {
        try SCRAMServerFirst(Array(message.utf8), clientNonce: Array("abc".utf8), limits: limits)
    }

    @Test("each limit holds at its value and one past it")
    func limits() throws {
        let start = "r=abcd,s=MTIzNDU2Nzg="
        #expect(try read("\(start),i=4096").iterations == 4_096)
        #expect(throws: SASLError.iterationCountTooLow(minimum: 4_096)) { try read("\(start),i=4095") }
        #expect(try read("\(start),i=10000000").iterations == 10_000_000)
        #expect(throws: SASLError.iterationCountTooHigh(maximum: 10_000_000)) { try read("\(start),i=10000001") }
        #expect(try read("\(start),i=4096").salt.count == 8)
        #expect(throws: SASLError.saltTooShort(minimum: 8)) { try read("r=abcd,s=MTIzNDU2Nw==,i=4096") }
        let long = "\(start),i=4096,z="
        _ = try read(long + String(repeating: "x", count: 8_192 - long.utf8.count))
        #expect(throws: SASLError.challengeTooLong(maximum: 8_192)) {
            try read(long + String(repeating: "x", count: 8_193 - long.utf8.count))
        }
    }

    @Test(
        "what the grammar does not allow is refused (RFC 5802 §7)",
        arguments: [
            ",", "r=abcd,s=MTIzNDU2Nzg=,i=4096,", ",r=abcd,s=MTIzNDU2Nzg=,i=4096", "r=abcd,s=MTIzNDU2Nzg=,i=",
            "r=abcd,s=MTIzNDU2Nzg=,i=04096", "r=abcd,s=MTIzNDU2Nzg=,i=-4096", "r=abcd,s=MTIzNDU2Nzg=,i= 4096",
            "r=abcd,s=MTIzNDU2Nzg=,i=4096,z", "r=abcd,s=MTIzNDU2Nzg=,i=4096,z=", "r=abcd,s=MTIzNDU2Nzg=,i=4096,1=x",
            "r=abcd,s=MTIzNDU2Nzg=,i=4096,z=1,z=2", "r=abcd,s=MTIzNDU2Nzg=,i=4096,r=abce",
            "R=abcd,S=MTIzNDU2Nzg=,I=4096", "r=abcd,s=MTIzNDU2Nzg=,z=1,i=4096", "r=ab\u{0}cd,s=MTIzNDU2Nzg=,i=4096",
            "r=abcd,s=MTIzNDU2Nzg=,i=4096,z=1\u{0}2",
            "r=abcd,s=,i=4096", "r=abcd,s=MTIz NDU2Nzg=,i=4096", "r=abcd,s=MTIzNDU2Nzg=,i=4096,h=***",
        ])
    func grammar(message: String) {
        #expect(throws: SASLError.malformedMessage) { try read(message) }
    }

    @Test(
        "the server's nonce begins with ours and goes on (RFC 5802 §5.1, r)", arguments: ["abc", "ab", "xabcd", "ABCD"])
    func nonce(nonce: String) {
        #expect(throws: SASLError.nonceMismatch) { try read("r=\(nonce),s=MTIzNDU2Nzg=,i=4096") }
    }

    @Test("a number of any length stops at the ceiling and does not wrap (RFC 5802 §9)")
    func longNumbers() {
        for length in [8, 19, 20, 40, 8_000] {
            #expect(throws: SASLError.iterationCountTooHigh(maximum: 10_000_000)) {
                try read("r=abcd,s=MTIzNDU2Nzg=,i=" + String(repeating: "9", count: length))
            }
        }
    }

    @Test("octets that are not UTF-8 are refused (RFC 5802 §5.1)")
    func notUTF8() {
        let message = Array("r=abcd,s=MTIzNDU2Nzg=,i=4096,z=".utf8) + [0xFF]
        #expect(throws: SASLError.malformedMessage) {
            try SCRAMServerFirst(message, clientNonce: Array("abc".utf8), limits: SCRAMLimits())
        }
    }

    @Test("no message traps, and what is accepted keeps every rule")
    func randomMessages() throws {
        var generator = SeededGenerator(seed: 3)
        let honest = Array("r=abcd,s=MTIzNDU2Nzg=,i=4096,z=1".utf8)
        var accepted = 0
        for _ in 0..<30_000 {
            var message = honest
            for _ in 0...Int.random(in: 0...2, using: &generator) {
                let index = Int.random(in: 0..<message.count, using: &generator)
                switch Int.random(in: 0...3, using: &generator) {
                case 0: message[index] = UInt8.random(in: .min ... .max, using: &generator)
                case 1: message.insert(honest.randomElement(using: &generator) ?? 0, at: index)
                case 2: message.remove(at: index)
                default: message.append(contentsOf: message[index...].prefix(3))
                }
            }
            let read = try? SCRAMServerFirst(message, clientNonce: Array("abc".utf8), limits: SCRAMLimits())
            guard let read else { continue }
            accepted += 1
            #expect(read.nonce.starts(with: Array("abc".utf8)) && read.nonce.count > 3)
            #expect(read.salt.count >= 8)
            #expect((4_096...10_000_000).contains(read.iterations))
        }
        #expect(accepted > 100)
    }
}
