// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCrypto

@testable import XMPPProtocol

@Suite struct SCRAMRefusalTests {
    private static func rows(_ stage: String) -> [SASLVectors.Negative] {
        SASLVectors.all.negative.filter { $0.stage == stage }
    }

    @Test("an ill-formed, weak or tampered first message is refused (RFC 5802 §5.1)", arguments: rows("server-first"))
    func serverFirst(row: SASLVectors.Negative) throws {
        let exchange = try SASLVectors.exchange(row.base)
        var mechanism = try exchange.makeMechanism()
        _ = try mechanism.start()
        #expect(row.expect == "abort")
        #expect(throws: SASLError.self) { try mechanism.respond(to: Array(row.message.utf8)) }
        // Refused once, refused for good: the honest message changes nothing.
        #expect(throws: SASLError.unexpectedMessage) { try mechanism.respond(to: Array(exchange.server_first.utf8)) }
        #expect(throws: SASLError.unexpectedMessage) { try mechanism.succeed(with: Array(exchange.server_final.utf8)) }
        #expect(mechanism.keyMaterial == nil)
    }

    @Test("a final message without the right signature is no success (RFC 5802 §5)", arguments: rows("server-final"))
    func serverFinal(row: SASLVectors.Negative) throws {
        let exchange = try SASLVectors.exchange(row.base)
        let message = Array(row.message.utf8)
        var inSuccess = try exchange.answered()
        var inChallenge = try exchange.answered()
        if row.expect == "accept" {
            try inSuccess.succeed(with: message)
            #expect(try inChallenge.respond(to: message).isEmpty)
            try inChallenge.succeed(with: nil)
            return
        }
        #expect(throws: SASLError.self) { try inSuccess.succeed(with: message) }
        #expect(inSuccess.keyMaterial == nil)
        #expect(throws: SASLError.unexpectedMessage) { try inSuccess.succeed(with: Array(exchange.server_final.utf8)) }
        #expect(throws: SASLError.self) { try inChallenge.respond(to: message) }
        #expect(throws: SASLError.unexpectedMessage) { try inChallenge.succeed(with: nil) }
    }

    @Test("the rows about the order of messages are all known here")
    func sequenceRows() {
        let known = ["early-success", "success-before-final", "two-challenges", "challenge-after-success"]
        #expect(Self.rows("sequence").map(\.id) == known)
    }

    @Test("success right after our first message is not believed (RFC 5802 §5)")
    func earlySuccess() throws {
        let row = try SASLVectors.exchange("rfc5802")
        for data in [nil, [], Array(row.server_final.utf8)] as [[UInt8]?] {
            var mechanism = try row.makeMechanism()
            _ = try mechanism.start()
            #expect(throws: SASLError.serverNotAuthenticated) { try mechanism.succeed(with: data) }
        }
        var unstarted = try row.makeMechanism()
        #expect(throws: SASLError.serverNotAuthenticated) { try unstarted.succeed(with: nil) }
    }

    @Test("success without the signature is not believed (RFC 5802 §5, RFC 6120 §6.4.6)")
    func bareSuccess() throws {
        let row = try SASLVectors.exchange("rfc5802")
        for data in [nil, []] as [[UInt8]?] {
            var mechanism = try row.answered()
            #expect(throws: SASLError.serverNotAuthenticated) { try mechanism.succeed(with: data) }
        }
    }

    @Test("a second first message is not answered (RFC 5802 §5)")
    func twoChallenges() throws {
        let row = try SASLVectors.exchange("rfc5802")
        var mechanism = try row.answered()
        #expect(throws: SASLError.malformedMessage) { try mechanism.respond(to: Array(row.server_first.utf8)) }
    }

    @Test("after the end nothing is answered, and no second end is taken (RFC 6120 §6.4)")
    func afterTheEnd() throws {
        let row = try SASLVectors.exchange("rfc5802")
        var mechanism = try row.answered()
        try mechanism.succeed(with: Array(row.server_final.utf8))
        #expect(throws: SASLError.unexpectedMessage) { try mechanism.respond(to: Array(row.server_first.utf8)) }
        var twice = try row.answered()
        _ = try twice.respond(to: Array(row.server_final.utf8))
        #expect(throws: SASLError.unexpectedMessage) { try twice.succeed(with: Array(row.server_final.utf8)) }
        var restarted = try row.answered()
        #expect(throws: SASLError.unexpectedMessage) { try restarted.start() }
    }

    @Test("the server's own errors are named, unknown ones as other-error (RFC 5802 §7)")
    func serverErrors() throws {
        let row = try SASLVectors.exchange("rfc5802")
        let answered = try row.answered()
        for error in SCRAMServerError.allCases {
            var mechanism = answered
            #expect(throws: SASLError.serverRefused(error)) {
                try mechanism.succeed(with: Array("e=\(error.rawValue)".utf8))
            }
        }
        var unknown = answered
        #expect(throws: SASLError.serverRefused(.otherError)) { try unknown.respond(to: Array("e=what".utf8)) }
        var early = try row.makeMechanism()
        _ = try early.start()
        #expect(throws: SASLError.serverRefused(.unknownUser)) { try early.respond(to: Array("e=unknown-user".utf8)) }
    }

    @Test("no signature with a changed bit, and no part of one, is taken (RFC 5802 §3)")
    func changedSignature() throws {
        let row = try SASLVectors.exchange("rfc5802")
        let answered = try row.answered()
        let honest = Array(row.server_final.utf8)
        for index in honest.indices {
            for bit in 0..<8 {
                var message = honest
                message[index] ^= 1 << bit
                var mechanism = answered
                #expect(throws: SASLError.self) { try mechanism.succeed(with: message) }
            }
        }
        for length in 0..<honest.count {
            var mechanism = answered
            #expect(throws: SASLError.self) { try mechanism.succeed(with: Array(honest.prefix(length))) }
        }
    }

    @Test("a mandatory extension beside the right signature is refused (RFC 5802 §5.1, m)")
    func mandatoryInFinal() throws {
        let row = try SASLVectors.exchange("rfc5802")
        var mechanism = try row.answered()
        #expect(throws: SASLError.mandatoryExtension) {
            try mechanism.succeed(with: Array("\(row.server_final),m=x".utf8))
        }
    }

    @Test("a second signature beside the right one is refused (RFC 5802 §7)")
    func twoSignatures() throws {
        let row = try SASLVectors.exchange("rfc5802")
        for message in ["\(row.server_final),\(row.server_final)", "\(row.server_final),x=1,x=2"] {
            var mechanism = try row.answered()
            #expect(throws: SASLError.malformedMessage) { try mechanism.succeed(with: Array(message.utf8)) }
        }
    }
}
