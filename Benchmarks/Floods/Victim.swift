// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPP

/// The client under the flood: it does what any client does, and takes down how that went.
final class Victim: ChatDelegate, MessageDelegate {
    private struct State {
        var delivered = 0
        var isInOrder = true
        /// How much processor time was used when the tenths of the flood had arrived.
        var marks: [Double] = []
        var waiter: CheckedContinuation<Void, Never>?
        var isOver = false
        var error: XMPPError?
    }

    private let state = Locked(State())
    private let flood: Flood

    init(_ flood: Flood) {
        self.flood = flood
    }

    /// Connects, waits until the flood is over, and prints what came of it as a line of ``Row``.
    ///
    /// - Returns: The exit status.
    func suffer(_ configuration: XMPPConfiguration, divisor: Int) async -> Int32 {
        let stream = XMPPStream(configuration)
        let roster = RosterStore()
        let buddies = BuddyList()
        stream.add(chatDelegate: roster)
        stream.add(chatDelegate: buddies)
        stream.add(chatDelegate: self)
        stream.add(messageDelegate: self)
        var start = Measure()
        do throws(XMPPError) {
            try await stream.connect()
            try await stream.requestRoster()
            start = Measure()
            try await stream.send(Presence())
        } catch {
            finish(error)
        }
        await over()
        let status = report(since: start, divisor: divisor)
        await stream.disconnect()
        withExtendedLifetime((roster, buddies)) {}
        return status
    }

    /// Where the client stands before the flood.
    private struct Measure {
        let resident: Int
        let milliseconds: Double
        let processorMilliseconds: Double

        init() {
            Memory.resetPeak()
            resident = Memory.read("VmRSS")
            milliseconds = Memory.milliseconds()
            processorMilliseconds = Memory.processorMilliseconds()
        }
    }

    private func report(since start: Measure, divisor: Int) -> Int32 {
        let time = Memory.milliseconds() - start.milliseconds
        let growth = Memory.read("VmHWM") - start.resident
        let state = state.withLock { $0 }
        let row = Row(
            flood: flood, outcome: outcome(state, expected: flood.events(dividedBy: divisor)), growth: growth,
            milliseconds: time, slowdown: slowdown(state.marks, since: start.processorMilliseconds))
        return row.tell(divisor: divisor)
    }

    /// One of the words of ``Flood/Expectation``, or what happened instead.
    private func outcome(_ state: State, expected: Int) -> String {
        if let error = state.error {
            let condition = error.streamError?.condition.rawValue
            return condition == "policy-violation" ? Flood.Expectation.refused.rawValue : "\(error.message)"
        }
        guard state.isInOrder else { return "out of order" }
        return state.delivered == expected
            ? Flood.Expectation.delivered.rawValue : "\(state.delivered) of \(expected) arrived"
    }

    /// How much more processor time the last fifth of the flood took than the first.
    private func slowdown(_ marks: [Double], since start: Double) -> Double? {
        guard marks.count == 10, marks[1] > start else { return nil }
        return (marks[9] - marks[7]) / (marks[1] - start)
    }

    // MARK: What arrives

    func stream(_ stream: XMPPStream, didReceive message: Message) async {
        guard let number = message.body.flatMap({ Int($0) }) else { return }
        if message.id == "mark" {
            state.withLock { $0.marks.append(Memory.processorMilliseconds()) }
            if number == 10 { finish(nil) }
        } else {
            state.withLock { state in
                if number != state.delivered { state.isInOrder = false }
                state.delivered += 1
            }
        }
    }

    func stream(_ stream: XMPPStream, didNotRead stanza: OversizedStanza) async {
        state.withLock { $0.delivered += 1 }
    }

    func stream(_ stream: XMPPStream, didReceive presence: Presence) async {
        guard presence.from?.domainpart == "evil.example" || presence.from?.resourcepart?.first == "r" else { return }
        state.withLock { $0.delivered += 1 }
    }

    func stream(_ stream: XMPPStream, didReceiveSubscriptionRequest request: Presence) async {
        state.withLock { $0.delivered += 1 }
    }

    func streamDidDisconnect(_ stream: XMPPStream, error: XMPPError?) async {
        finish(error)
    }

    private func finish(_ error: XMPPError?) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.isOver else { return nil }
            state.isOver = true
            state.error = error
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    private func over() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state -> Bool in
                if !state.isOver { state.waiter = continuation }
                return state.isOver
            }
            if isOver { continuation.resume() }
        }
    }
}
