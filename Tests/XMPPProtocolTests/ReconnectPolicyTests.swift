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
}
