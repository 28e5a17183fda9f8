// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import XMPP

/// A client whose sessions come and go, in a process of its own: what they leave behind is measured.
enum Churn {
    /// How many sessions there are before memory is looked at: until then the allocator and the thread pool grow.
    private static let warmUp = 100
    /// How many more descriptors and threads than after the first sessions are no leak.
    private static let tolerance = 2
    /// How long it may take until what has ended is gone: an idle thread of Dispatch ends after five seconds, one after
    /// another.
    private static let maximumSettling: Duration = .seconds(30)

    /// What this process holds.
    private struct Holdings {
        let resident = Memory.read("VmRSS")
        let threads = Memory.read("Threads")
        let descriptors = Memory.descriptors()
    }

    /// Begins and ends sessions; prints a line of ``Row``.
    ///
    /// - Returns: The exit status.
    static func run(_ configuration: XMPPConfiguration, divisor: Int) async -> Int32 {
        let sessions = max(2 * warmUp, Flood.churn.count / max(1, divisor))
        let start = Memory.milliseconds()
        var first: Holdings?
        var warm = Holdings()
        for number in 0..<sessions {
            guard await session(number, configuration) else {
                print("churn\tsession \(number) did not go as it should")
                return 1
            }
            if number == 3 { first = Holdings() }
            if number == warmUp { warm = Holdings() }
        }
        let time = Memory.milliseconds() - start
        let (end, isSettled) = await settled(first ?? warm)
        let outcome =
            isSettled
            ? Flood.Expectation.delivered.rawValue
            : "\(end.descriptors - (first?.descriptors ?? 0)) descriptors, \(end.threads - (first?.threads ?? 0)) threads more"
        return Row(
            flood: .churn, outcome: outcome, growth: max(0, end.resident - warm.resident), milliseconds: time,
            slowdown: nil
        ).tell(divisor: divisor)
    }

    /// One session, ended in one of four ways; whether it was there.
    private static func session(_ number: Int, _ configuration: XMPPConfiguration) async -> Bool {
        var configuration = configuration
        if number % 4 == 3 { configuration.password = "wrong" }
        let stream = XMPPStream(configuration)
        let buddies = BuddyList()
        stream.add(chatDelegate: buddies)
        do throws(XMPPError) {
            try await stream.connect()
            try await stream.goOnline()
        } catch {
            return number % 4 == 3 && error.code == .authenticationRefused
        }
        switch number % 4 {
        case 0: await stream.disconnect()
        case 1:
            async let one: Void = stream.disconnect()
            async let other: Void = stream.disconnect()
            _ = await (one, other)
        // Forgotten without a goodbye.
        default: break
        }
        return number % 4 != 3
    }

    /// What is held when what has ended is gone, and whether that is as little as in the beginning.
    private static func settled(_ first: Holdings) async -> (Holdings, Bool) {
        let deadline = ContinuousClock.now + maximumSettling
        while true {
            let end = Holdings()
            let isSettled =
                end.descriptors <= first.descriptors + tolerance && end.threads <= first.threads + tolerance
            if isSettled || ContinuousClock.now > deadline { return (end, isSettled) }
            try? await Task.sleep(for: .milliseconds(100))
        }
    }
}
