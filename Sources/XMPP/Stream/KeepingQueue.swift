// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPProtocol
internal import XMPPXML

/// What a store has to keep before it counts, in order: what comes while the store is at work goes to it together.
struct KeepingQueue: Sendable {
    /// Something to be kept.
    enum Job: Sendable {
        /// A step that nobody waits for.
        case step(StreamProgress)
        /// A stanza that is sent when it is kept.
        case sending(Sending)
        /// Stanzas that count as handled when they are kept.
        case received(ArrivedStanzas)

        /// What can be kept apart from each other.
        var parts: [Job] {
            switch self {
            case .step, .sending: [self]
            case .received(let stanzas): stanzas.parts.map(Job.received)
            }
        }
    }

    /// A stanza that is sent when it is kept.
    struct Sending: Sendable {
        let element: Element
        let bytes: [UInt8]
        let time: DateTime
        /// The number under which its sender waits; 0 where nobody does.
        let number: Int
    }

    /// What goes to the store in one call.
    struct Batch: Sendable {
        let jobs: [Job]
        let steps: [StreamProgress]
    }

    /// How many jobs go to the store in one call; 1,000.
    static let maximumBatch = 1_000
    /// How many stanzas may have arrived that are not kept before the stream stops reading; 1,000.
    static let maximumUnkept: UInt32 = 1_000
    /// How many bytes of messages may have arrived that are not kept before the stream stops reading; 8 MiB.
    static let maximumUnkeptBytes = 8 * 1_048_576
    /// How long after a failure the store is tried again, at first; 1 s. It doubles up to ``maximumRetryDelay``.
    static let firstRetryDelay: Duration = .seconds(1)
    /// How long after a failure the store is tried again at most; 30 s.
    static let maximumRetryDelay: Duration = .seconds(30)

    /// Where things are kept.
    let store: any StreamStateStore
    /// The account.
    let account: JID
    /// Whether the name of the session was kept.
    var hasName = true
    /// How many stanzas have arrived that are not kept.
    private(set) var unkept: UInt32 = 0
    /// About how many bytes the messages among them take.
    private(set) var unkeptBytes = 0
    /// How many stanzas wait to be sent.
    private(set) var sendingCount: UInt32 = 0
    private var waiting: [Job] = []
    private var isBusy = false
    private var lastNumber = 0
    private var failures = 0
    /// How many of the jobs that wait go to the store one by one, as something among them cannot be kept.
    private var suspects = 0
    /// The count of the last acknowledgement of the session.
    private var acknowledged: UInt32?

    init(_ store: any StreamStateStore, of account: JID) {
        self.store = store
        self.account = account
    }

    /// Whether the stream should stop reading.
    var isOverfull: Bool { unkept >= Self.maximumUnkept || unkeptBytes >= Self.maximumUnkeptBytes }

    /// Whether all is kept, or cannot be kept for now.
    var isSettled: Bool { !isBusy && (waiting.isEmpty || failures > 0) }

    /// A number for a sender.
    mutating func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    /// Whether the store is at work.
    var isAtWork: Bool { isBusy }

    /// Whether something that was added is worth a try at once. After a failure only what somebody waits for is.
    func isUrgent(_ job: Job) -> Bool {
        guard failures > 0, case .sending(let sending) = job else { return failures == 0 }
        return sending.number != 0
    }

    mutating func add(_ job: Job) {
        if case .step(.began) = job { acknowledged = nil }
        if case .step(.acknowledged(let count)) = job {
            guard count != acknowledged else { return }
            acknowledged = count
            // The later count says what the earlier one did.
            if case .step(.acknowledged) = waiting.last { waiting.removeLast() }
        }
        waiting.append(job)
        switch job {
        case .step: break
        case .sending: sendingCount += 1
        case .received(let stanzas):
            unkept &+= stanzas.count
            unkeptBytes += stanzas.bytes
        }
    }

    /// Stanzas that arrived wait no more.
    private mutating func leave(_ stanzas: ArrivedStanzas) {
        unkept &-= stanzas.count
        unkeptBytes -= stanzas.bytes
    }

    /// Begins to work; whoever is told so takes batches until there are no more.
    mutating func begin() -> Bool {
        guard !isBusy, !waiting.isEmpty else { return false }
        isBusy = true
        return true
    }

    /// What goes to the store next; `nil` when there is nothing, which ends the work.
    ///
    /// - Parameter handled: How many stanzas were handled before; `nil` where nobody counts.
    mutating func take(handled: UInt32?) -> Batch? {
        guard !waiting.isEmpty else {
            isBusy = false
            return nil
        }
        let jobs = Array(waiting.prefix(suspects > 0 ? 1 : Self.maximumBatch))
        waiting.removeFirst(jobs.count)
        var steps: [StreamProgress] = []
        var sent: [UnacknowledgedStanza] = []
        var handled = handled
        for job in jobs {
            if case .sending(let sending) = job {
                sent.append(UnacknowledgedStanza(sending.element, sentAt: sending.time))
                continue
            }
            if !sent.isEmpty { steps.append(.sent(sent)) }
            sent = []
            switch job {
            case .sending: break
            case .step(let step): steps.append(step)
            case .received(let stanzas):
                handled = handled.map { $0 &+ stanzas.count }
                if handled != nil || !stanzas.messages.isEmpty {
                    steps.append(.received(stanzas.messages, handled: handled))
                }
            }
        }
        if !sent.isEmpty { steps.append(.sent(sent)) }
        return Batch(jobs: jobs, steps: steps)
    }

    /// A batch was kept.
    mutating func kept(_ batch: Batch) {
        failures = 0
        suspects = max(0, suspects - 1)
        for job in batch.jobs {
            switch job {
            case .step: break
            case .sending: sendingCount -= 1
            case .received(let stanzas): leave(stanzas)
            }
        }
    }

    /// What is given up since it can never be kept.
    struct Unkeepable: Sendable {
        /// What is not sent.
        var sending: Sending?
        /// A message that arrived; it counts as handled.
        var message: Element?
    }

    /// A batch holds something that can never be kept. Its jobs go to the store one by one, and the one that it is is
    /// given up: what comes behind it would never be kept otherwise. The work goes on.
    ///
    /// - Returns: What is given up, perhaps nothing yet; `nil` where nothing can be, so that the batch has failed as
    ///   any other.
    mutating func refused(_ batch: Batch) -> Unkeepable? {
        let parts = batch.jobs.flatMap(\.parts)
        guard parts.count == 1, let part = parts.first else {
            waiting = parts + waiting
            suspects = max(suspects - batch.jobs.count, 0) + parts.count
            return Unkeepable()
        }
        switch part {
        case .step: return nil
        case .sending(let sending):
            sendingCount -= 1
            suspects = max(0, suspects - 1)
            return Unkeepable(sending: sending)
        case .received(let stanzas):
            guard let message = stanzas.messages.first else { return nil }
            unkeptBytes -= stanzas.bytes
            waiting.insert(.received(ArrivedStanzas(count: stanzas.count)), at: 0)
            return Unkeepable(message: message)
        }
    }

    /// A batch could not be kept: what somebody waits for is given up, the rest is brought again. Ends the work.
    ///
    /// - Returns: What is given up, and when to try again.
    mutating func failed(_ batch: Batch) -> (given: [Sending], retry: Duration) {
        isBusy = false
        waiting = batch.jobs + waiting
        let delay = min(Self.firstRetryDelay * (1 << min(failures, 5)), Self.maximumRetryDelay)
        failures += 1
        return (takeSendings { $0.number != 0 }, delay)
    }

    /// What was to be sent is not sent any more.
    mutating func takeSendings(where isGivenUp: (Sending) -> Bool = { _ in true }) -> [Sending] {
        var given: [Sending] = []
        waiting.removeAll { job in
            guard case .sending(let sending) = job, isGivenUp(sending) else { return false }
            given.append(sending)
            return true
        }
        sendingCount -= UInt32(given.count)
        return given
    }

    /// The stream is over: what could not be kept is not tried again, since another stream may have the account's store
    /// now.
    mutating func giveUp() {
        guard !isBusy else { return }
        _ = takeSendings()
        forgetReceived()
        waiting = []
    }

    /// What has arrived and was not kept comes again, on another connection.
    mutating func forgetReceived() {
        var rest: [Job] = []
        for job in waiting {
            if case .received(let stanzas) = job { leave(stanzas) } else { rest.append(job) }
        }
        waiting = rest
    }
}
