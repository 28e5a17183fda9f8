// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPTestSupport

@testable import XMPPProtocol

@Suite("When to try again (RFC 6120 §3.3)")
struct ReconnectPolicyTests {
    @Test("the first delay is random within a minute, later spans double up to the cap")
    func spans() {
        var policy = ReconnectPolicy()
        let spans = (0..<8).map { _ in policy.failed(random: 1) }
        #expect(spans == [60, 15, 30, 60, 120, 240, 300, 300].map { Duration.seconds($0) })
        policy.established()
        #expect(policy.failed(random: 0.5) == .milliseconds(30_500))
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

    /// When a thousand clients try, whose server is away from the beginning on, in seconds.
    private static func attempts(for span: Duration) -> [[Double]] {
        var generator = SeededGenerator(seed: 7)
        return (0..<1_000).map { _ in
            var policy = ReconnectPolicy()
            var (now, moments) = (Duration.zero, [Double]())
            while true {
                now += policy.failed(random: Double.random(in: 0..<1, using: &generator))
                guard now < span else { return moments }
                moments.append(now / .seconds(1))
            }
        }
    }

    @Test(
        "Of a thousand clients whose server is away for an hour none tries more than 25 times, or twice within a second"
    )
    func hour() {
        for moments in Self.attempts(for: .seconds(3_600)) {
            #expect(moments.count <= 25)
            for (one, next) in zip(moments, moments.dropFirst()) { #expect(next - one >= 1) }
        }
    }

    @Test("They begin evenly over the first minute, and never come as a herd")
    func herd() {
        let all = Self.attempts(for: .seconds(3_600))
        var firsts = [Double](repeating: 0, count: 59)
        for moments in all { firsts[min(58, Int(moments[0]) - 1)] += 1 }
        // Chi-square of 58 degrees of freedom: above 85.95 one time in a hundred.
        let expected = 1_000.0 / 59
        let deviation = firsts.map { ($0 - expected) * ($0 - expected) / expected }.reduce(0, +)
        #expect(deviation < 85.95)
        // Within any second of the first minute, in which all try several times, at most one client in ten; later one
        // in fifty.
        var perSecond = [Int](repeating: 0, count: 3_600)
        for moment in all.joined() { perSecond[Int(moment)] += 1 }
        #expect(perSecond.max() ?? 0 <= 100)
        #expect(perSecond[600...].max() ?? 0 <= 20)
    }

    @Test("Nor do a thousand clients whose sessions were interrupted at the same moment: they spread over the span")
    func interrupted() {
        var generator = SeededGenerator(seed: 11)
        var buckets = [Int](repeating: 0, count: 20)
        for _ in 0..<1_000 {
            var policy = ReconnectPolicy()
            let delay = policy.interrupted(after: .seconds(3_600), random: Double.random(in: 0..<1, using: &generator))
            buckets[min(19, Int((delay / .seconds(1) - 1) * 10))] += 1
        }
        #expect(buckets.max() ?? 0 <= 85)
    }
}
