// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import SocketIO

/// A transport that does to another's bytes what ``LoopbackFault`` says.
///
/// Unchecked: all mutable state is confined to the executor's queue, and every method checks that.
final class FaultyTransport: ByteTransport, @unchecked Sendable {
    /// Pause between two portions of a slow connection.
    private static let tick: Duration = .milliseconds(20)

    let executor: StreamExecutor
    private let lower: any ByteTransport
    private let reset: @Sendable () -> Void
    private let clock: any StreamClock
    private var handler: (@Sendable (TransportEvent) -> Void)?

    private var sendingAllowance: Allowance
    private var receivingAllowance: Allowance
    private let bytesPerSecond: Int?
    private let sliceBytes: Int?

    /// What was sent and waits for its turn, when slow or sliced.
    private var waiting: [UInt8] = []
    private var isPumping = false
    private var closesWhenSent = false
    private var hasEnded = false

    /// How many bytes may still pass, and what happens then.
    private struct Allowance {
        var bytes: Int?
        var ending: LoopbackFault.Ending?

        init(_ faults: [LoopbackFault], _ direction: LoopbackFault.Direction) {
            for fault in faults {
                switch fault {
                case .cut(let count, direction, let ending): self.ending = ending; bytes = max(0, count)
                case .stall(let count, direction): bytes = max(0, count)
                case .cut, .stall, .slow, .slice: break
                }
            }
        }

        /// The part of `all` that passes.
        mutating func take(_ all: [UInt8]) -> [UInt8] {
            guard let bytes else { return all }
            self.bytes = max(0, bytes - all.count)
            return Array(all.prefix(bytes))
        }

        var isUsedUp: Bool { bytes == 0 }
    }

    /// Wraps a transport.
    ///
    /// - Parameters:
    ///   - faults: What goes wrong; of two faults of one kind the last counts.
    ///   - reset: Ends the TCP connection below with a reset.
    init(
        over lower: any ByteTransport, faults: [LoopbackFault], clock: any StreamClock = SystemClock(),
        reset: @escaping @Sendable () -> Void
    ) {
        executor = lower.executor
        self.lower = lower
        self.reset = reset
        self.clock = clock
        sendingAllowance = Allowance(faults, .toClient)
        receivingAllowance = Allowance(faults, .fromClient)
        bytesPerSecond = faults.compactMap { if case .slow(let rate) = $0 { max(1, rate) } else { nil } }.last
        sliceBytes = faults.compactMap { if case .slice(let size) = $0 { max(1, size) } else { nil } }.last
    }

    var pendingBytes: Int {
        checkQueue()
        return waiting.count + lower.pendingBytes
    }

    var roundTrips: Int { lower.roundTrips }

    var peerAddress: SocketAddress? { lower.peerAddress }

    var peerIsLoopback: Bool { lower.peerIsLoopback }

    func start(_ handler: @escaping @Sendable (TransportEvent) -> Void) {
        checkQueue()
        self.handler = handler
        lower.start { [weak self] in self?.handle($0) }
    }

    func replaceHandler(_ handler: @escaping @Sendable (TransportEvent) -> Void) {
        checkQueue()
        self.handler = handler
    }

    func send(_ bytes: [UInt8]) {
        checkQueue()
        guard !hasEnded, !closesWhenSent else { return }
        let passing = sendingAllowance.take(bytes)
        if bytesPerSecond == nil && sliceBytes == nil {
            if !passing.isEmpty { lower.send(passing) }
        } else {
            waiting += passing
            pump()
        }
        endIfUsedUp(sendingAllowance)
    }

    func pauseReading() {
        checkQueue()
        lower.pauseReading()
    }

    func resumeReading() {
        checkQueue()
        guard !receivingAllowance.isUsedUp else { return }
        lower.resumeReading()
    }

    func close() {
        checkQueue()
        if waiting.isEmpty { lower.close() } else { closesWhenSent = true }
    }

    func abort() {
        checkQueue()
        hasEnded = true
        waiting = []
        lower.abort()
    }

    private func checkQueue() {
        dispatchPrecondition(condition: .onQueue(executor.queue))
    }

    private func handle(_ event: TransportEvent) {
        guard case .received(let bytes) = event else { handler?(event); return }
        guard !hasEnded else { return }
        let passing = receivingAllowance.take(bytes)
        if !passing.isEmpty { handler?(.received(passing)) }
        guard receivingAllowance.isUsedUp else { return }
        if receivingAllowance.ending == nil { lower.pauseReading() }
        endIfUsedUp(receivingAllowance)
    }

    private func endIfUsedUp(_ allowance: Allowance) {
        guard allowance.isUsedUp, !hasEnded else { return }
        switch allowance.ending {
        case .close: close()
        case .reset:
            hasEnded = true
            reset()
        case nil: break
        }
    }

    /// Sends the next portion, and sees to the ones after it.
    private func pump() {
        guard !isPumping, !waiting.isEmpty else { return }
        isPumping = true
        let rate = bytesPerSecond.map { max(1, $0 / 50) } ?? Int.max
        let portion = min(rate, sliceBytes ?? Int.max, waiting.count)
        lower.send(Array(waiting.prefix(portion)))
        waiting.removeFirst(portion)
        let goOn: @Sendable () -> Void = { [self] in
            isPumping = false
            if waiting.isEmpty, closesWhenSent { lower.close() }
            pump()
        }
        if bytesPerSecond == nil {
            executor.queue.async(execute: goOn)
        } else {
            _ = clock.schedule(after: Self.tick, on: executor, goOn)
        }
    }
}
