// SPDX-License-Identifier: Apache-2.0

import XMPPCrypto

@testable import XMPPProtocol

/// One SCRAM exchange with a server that says what the fuzzer wants.
private struct SCRAMExchange {
    static let nonce = "rOprNGfwEbeRWgbNEkqO"
    static let password = SecretBytes("pencil")
    /// In a final message it stands for the signature that an honest server would send.
    static let signatureMark: UInt8 = 1

    var digest: Digest
    var mechanism: SCRAMMechanism
    var clientFirst: [UInt8] = []

    init(options: UInt8) throws {
        digest = Digest.allCases[Int(options & 0x0F) % Digest.allCases.count]
        let binding: ChannelBinding =
            switch options >> 4 & 3 {
            case 0: .none
            case 1: .unsupportedByServer
            default: .bound(ChannelBindingData(type: .tlsExporter, bytes: Array(0..<32)))
            }
        var limits = SCRAMLimits()
        limits.minimumIterations = 10
        limits.maximumIterations = 99
        mechanism = try SCRAMMechanism(
            digest: digest, username: "us=er,", secret: SCRAMSecret(preparedPassword: Self.password),
            binding: binding, nonce: Self.nonce,
            advertisement: SASLAdvertisement(mechanisms: [.scramSHA256, .scramSHA1]), limits: limits)
        clientFirst = try mechanism.start() ?? []
    }

    /// What an honest server would sign, reckoned from the messages alone (RFC 5802 §3).
    func signature(serverFirst: [UInt8], clientFinal: [UInt8]) throws -> [UInt8] {
        let attributes = serverFirst.split(separator: UInt8(ascii: ","))
        guard let salt = Base64.decode(Array(attributes[1].dropFirst(2))),
            let iterations = Int(String(decoding: attributes[2].dropFirst(2), as: UTF8.self))
        else { throw BrokenRule(description: "answered a message without salt and iterations") }
        try require(salt.count >= 8 && (10...99).contains(iterations), "answered \(iterations) iterations")
        let keys = try SCRAMKeyMaterial(digest: digest, password: Self.password, salt: salt, iterations: iterations)
        // The GS2 header is what stands before the second comma.
        let bare = clientFirst.split(separator: UInt8(ascii: ","), maxSplits: 2, omittingEmptySubsequences: false)[2]
        let proof = clientFinal.lastIndex(of: UInt8(ascii: ",")) ?? clientFinal.startIndex
        let comma = [UInt8(ascii: ",")]
        let authMessage: [UInt8] = Array(bare) + comma + serverFirst + comma + Array(clientFinal[..<proof])
        return try keys.serverSignature(authMessage)
    }
}

extension FuzzTarget {
    /// A byte of options, the server's first message, a line feed and its final one (RFC 5802): believed is only who
    /// has signed, and after an error nothing is.
    static let scram = FuzzTarget(
        name: "scram",
        seeds: {
            let exchanges = FuzzVectors.objects(in: "scram.json", under: "exchanges")
            let published = exchanges.compactMap { exchange -> String? in
                guard let first = exchange["server_first"], let nonce = exchange["client_nonce"] else { return nil }
                return first.replacing(nonce, with: SCRAMExchange.nonce)
            }
            let wrong = FuzzVectors.objects(in: "scram.json", under: "negative").compactMap { $0["message"] }
            let firsts = (published + wrong).map { $0.replacing(/i=[0-9]+/, with: "i=64") }
            return firsts.flatMap { first in
                let finals: [(UInt8, String)] = [(0, "v=\u{1}"), (0x81, "v=\u{1}"), (0x42, "v=AA=="), (0xC3, "e=no")]
                return finals.map { [$0.0] + first.utf8 + [0x0A] + $0.1.utf8 }
            }
        }
    ) { bytes in
        let options = bytes.first ?? 0
        var exchange = try SCRAMExchange(options: options)
        let lines = bytes.dropFirst().split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
        let first = Array(lines.first ?? [])
        guard let final = try? exchange.mechanism.respond(to: first) else {
            return try checkRefuses(&exchange.mechanism)
        }
        try checkAnswer(final, first: first)
        let signature = Base64.encodeToBytes(try exchange.signature(serverFirst: first, clientFinal: final))
        let last = (lines.count > 1 ? Array(lines[1]) : []).flatMap { byte in
            byte == SCRAMExchange.signatureMark ? signature : [byte]
        }
        let isHonest = last.starts(with: Array("v=".utf8) + signature)
        var mechanism = exchange.mechanism
        // The final message comes with success, or as a last challenge with an empty success behind it.
        let isBelieved: Bool
        if options & 0x80 == 0 {
            isBelieved = (try? mechanism.succeed(with: last)) != nil
        } else {
            isBelieved = (try? mechanism.respond(to: last)) != nil && (try? mechanism.succeed(with: nil)) != nil
        }
        try require(!isBelieved || isHonest, "believed without a signature")
        let isExact = last.count == signature.count + 2
        try require(isBelieved || !isHonest || !isExact, "an honest server is not believed")
        try require((mechanism.keyMaterial != nil) == isBelieved, "keys are kept of an exchange that failed")
        try checkRefuses(&mechanism)
    }

    /// `c=…,r=…,p=…` with the server's nonce and without anything else (RFC 5802 §7).
    private static func checkAnswer(_ final: [UInt8], first: [UInt8]) throws {
        let parts = String(decoding: final, as: UTF8.self).split(separator: ",")
        try require(parts.map { $0.prefix(2) } == ["c=", "r=", "p="], "the answer has other attributes")
        try require(first.starts(with: parts[1].utf8), "the answer has another nonce")
        try require(parts[1].utf8.count > 2 + SCRAMExchange.nonce.utf8.count, "the server's nonce adds nothing")
    }

    /// What has ended answers nothing more.
    private static func checkRefuses(_ mechanism: inout SCRAMMechanism) throws {
        let answers = [
            (try? mechanism.start()) != nil, (try? mechanism.respond(to: Array("r=a,s=b,i=c".utf8))) != nil,
            (try? mechanism.succeed(with: nil)) != nil, (try? mechanism.succeed(with: [])) != nil,
        ]
        try require(!answers.contains(true), "an exchange that is over goes on")
    }
}
