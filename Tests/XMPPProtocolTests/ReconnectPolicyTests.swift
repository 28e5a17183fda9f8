// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import XMPPProtocol

@Suite("When to try again (RFC 6120 §3.3)")
struct ReconnectPolicyTests {
    @Test("the first delay is random within a minute, later spans double up to the cap")
    func spans() {
        var policy = ReconnectPolicy()
        let spans = (0..<8).map { _ in policy.failed(random: 1) }
        #expect(spans == [60, 15, 30, 60, 120, 240, 300, 300].map { Duration.seconds($0) })
        policy.established()
        #expect(policy.failed(random: 0.5) == .seconds(30))
    }

    @Test(
        "no attempt comes within a second of the one before, whatever the dice say",
        arguments: [0, -1, .nan] as [Double])
    func minimum(random: Double) {
        var policy = ReconnectPolicy()
        for _ in 0..<100 { #expect(policy.failed(random: random) >= .seconds(1)) }
    }

    @Test("a session that waits to be resumed is asked for soon; one that keeps breaking off, less and less soon")
    func interruptions() {
        var policy = ReconnectPolicy()
        let delays = (0..<7).map { _ in policy.interrupted(after: .seconds(1), random: 1) }
        #expect(delays == [3, 6, 12, 24, 48, 60, 60].map { Duration.seconds($0) })
        #expect(policy.interrupted(after: .seconds(60), random: 1) == .seconds(3), "it had lasted")
        #expect(policy.interrupted(after: .zero, random: 0) == .seconds(1))
        #expect(policy.failed(random: 1) == .seconds(60), "an attempt that fails is one like any other")
    }
}
