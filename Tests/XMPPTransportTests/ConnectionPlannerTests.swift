// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPTestSupport

@testable import XMPPTransport

@Suite struct ConnectionPlannerTests {
    private func plan(_ startTLS: SRVAnswer, _ directTLS: SRVAnswer, seed: UInt64 = 1) throws -> [ConnectionTarget] {
        var numbers = SeededGenerator(seed: seed)
        return try ConnectionPlanner.targets(
            for: "example.org", startTLS: startTLS, directTLS: directTLS, using: &numbers)
    }

    private func record(_ priority: UInt16, _ weight: UInt16, _ port: UInt16, _ target: String) -> SRVRecord {
        SRVRecord(priority: priority, weight: weight, port: port, target: target)
    }

    @Test("both services are mixed by priority (XEP-0368 §4)")
    func mixed() throws {
        let targets = try plan(
            .records([record(30, 0, 5222, "c"), record(10, 0, 5222, "a")]),
            .records([record(40, 0, 443, "d"), record(20, 0, 443, "b")]))
        #expect(targets.map(\.host) == ["a", "b", "c", "d"])
        #expect(targets.map(\.security) == [.startTLS, .directTLS, .startTLS, .directTLS])
        #expect(targets.map(\.port) == [5222, 443, 5222, 443])
        #expect(targets.map(\.priority) == [10, 20, 30, 40])
    }

    @Test("within a priority the weight is the share of first places (RFC 2782)")
    func weights() throws {
        var firsts: [String: Int] = [:]
        for seed in 0..<4000 {
            let targets = try plan(
                .records([record(0, 60, 1, "sixty"), record(0, 30, 1, "thirty"), record(0, 0, 1, "zero")]),
                .records([record(0, 10, 1, "ten")]), seed: UInt64(seed))
            #expect(Set(targets.map(\.host)) == ["sixty", "thirty", "ten", "zero"])
            firsts[targets[0].host, default: 0] += 1
        }
        #expect((2250...2550).contains(firsts["sixty"] ?? 0))
        #expect((1080...1320).contains(firsts["thirty"] ?? 0))
        #expect((300...500).contains(firsts["ten"] ?? 0))
        #expect((1...120).contains(firsts["zero"] ?? 0))
    }

    @Test("a target of \".\" means that the service is not available, with no way around (RFC 2782)")
    func refusal() throws {
        let refusal = SRVAnswer.records([record(0, 0, 0, "")])
        #expect(throws: ConnectError.serviceNotAvailable(domain: "example.org")) { try plan(refusal, .none) }
        #expect(throws: ConnectError.serviceNotAvailable(domain: "example.org")) { try plan(refusal, refusal) }
        #expect(throws: ConnectError.serviceNotAvailable(domain: "example.org")) { try plan(.none, refusal) }
        let other = try plan(.records([record(0, 0, 5222, "a")]), refusal)
        #expect(other == [ConnectionTarget(host: "a", port: 5222, security: .startTLS)])
    }

    @Test(
        "the domain itself is a fallback only where there are no records, on port 5222 (RFC 6120 §3.2.2)",
        arguments: [SRVAnswer.none, .failed("no answer")])
    func fallback(answer: SRVAnswer) throws {
        #expect(try plan(answer, .none) == [ConnectionTarget(host: "example.org", port: 5222, security: .startTLS)])
        #expect(try plan(answer, .records([record(0, 0, 443, "x")])).map(\.host) == ["x"])
    }

    @Test("a thousand records give 32 targets")
    func bounded() throws {
        let many = (0..<1000).map { record(UInt16($0 / 100), UInt16($0), 5222, "h\($0)") }
        let targets = try plan(.records(many), .none)
        #expect(targets.count == ConnectionPlanner.maximumTargets)
        #expect(Set(targets).count == targets.count)
    }

    @Test(
        "name servers are not asked about addresses, localhost and .local",
        arguments: [
            ("example.org", true), ("localhost", false), ("LOCALHOST", false), ("localhost.", false),
            ("a.localhost", false),
            ("printer.local", false), ("192.0.2.1", false), ("2001:db8::1", false), ("[2001:db8::1]", false),
            ("server", true),
            ("notlocal", true),
        ])
    func asks(domain: String, expected: Bool) {
        #expect(ConnectionPlanner.asksNameServers(about: domain) == expected)
    }

    @Test("brackets and the final dot are no part of a host")
    func hosts() {
        #expect(ConnectionPlanner.fallback(for: "[2001:db8::1]").map(\.host) == ["2001:db8::1"])
        #expect(ConnectionPlanner.fallback(for: "[2001:db8::1]").map(\.description) == ["[2001:db8::1]:5222"])
        #expect(ConnectionPlanner.fallback(for: "localhost.").map(\.host) == ["localhost"])
    }

    @Test(
        "a record is read, a malformed one refused",
        arguments: [
            (
                [0, 1, 0, 2, 0x14, 0x66, 1, 0x41, 2, 0x62, 0x63, 0],
                SRVRecord(priority: 1, weight: 2, port: 5222, target: "a.bc")
            ),
            ([0, 0, 0, 0, 0, 0, 0], SRVRecord(priority: 0, weight: 0, port: 0, target: "")),
            ([0, 0, 0, 0, 0, 0], nil), ([], nil),
            ([0, 0, 0, 0, 0, 0, 3, 0x61, 0x62], nil), ([0, 0, 0, 0, 0, 0, 1, 0x61], nil),
            ([0, 0, 0, 0, 0, 0, 0xC0, 12], nil), ([0, 0, 0, 0, 0, 0, 1, 0x20, 0], nil),
            ([0, 0, 0, 0, 0, 0, 1, 0x1B, 0], nil),
            ([0, 0, 0, 0, 0, 0, 1, 0x2E, 0], nil),
            ([0, 0, 0, 0, 0, 0] + Array(repeating: [1, 0x61], count: 200).flatMap(\.self) + [0], nil),
        ] as [([UInt8], SRVRecord?)])
    func records(data: [UInt8], expected: SRVRecord?) {
        #expect(SRVRecord(wireFormat: data) == expected)
    }
}
