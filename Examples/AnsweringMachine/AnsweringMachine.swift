// SPDX-License-Identifier: Apache-2.0

import ExampleSupport
import JabberControl

/// Answers, once each, those who write while the user is away.
///
/// It has no session of its own: the user's daemon has one, and this is a guest there. It may be started, stopped and
/// killed at any time. What came meanwhile comes when it is back, since the daemon notes how far a consumer of its name
/// has come; and nobody gets an answer twice, since an answer is named after what it answers.
actor AnsweringMachine {
    /// The name that the daemon knows it by.
    private static let consumer = "answering-machine"
    /// How many people it remembers as answered; 1,000. Beyond, it begins anew.
    private static let maximumAnswered = 1_000
    /// How often a daemon is asked again that is just being restarted, and how long is waited in between: 30 seconds in
    /// all.
    private static let (maximumTries, pause) = (150, Duration.milliseconds(200))

    private let daemon: ControlClient
    private var answered: Set<String> = []

    init(_ daemon: ControlClient) {
        self.daemon = daemon
    }

    /// Answers until the task is cancelled; restarts of the daemon do not matter.
    ///
    /// - Parameter place: Where to begin when it was never here before; `nil` for what comes from now on.
    /// - Throws: `ControlError` when no daemon runs, or there is no such account.
    func run(since place: String? = nil) async throws {
        let greeting = try await daemon.connect()
        say("a guest of \(greeting.product.printable()) \(greeting.version.printable())")
        let events = daemon.events([.message], since: place, consumer: Self.consumer, acknowledgement: .manual)
        do {
            for try await event in events {
                try await answer(event)
                // Not before: should this program end between the two, the event comes again.
                try await patiently { try await self.daemon.acknowledge(event, by: Self.consumer) }
            }
        } catch {
            // In the middle of an answer, which is given next time then.
            guard Task.isCancelled else { throw error }
        }
    }

    private func answer(_ event: ControlEvent) async throws {
        // Never a room, nor an own word from another device, nor anybody twice: two machines would never stop.
        guard event.json.string("kind") == "chat", !event.isOutgoing, event.body != nil, let sender = event.from,
            let cursor = event.cursor
        else { return }
        let who = String(sender.prefix { $0 != "/" })
        guard !answered.contains(who),
            let excuse = try await patiently({ try await self.excuse(of: event.account) })
        else { return }
        if answered.count >= Self.maximumAnswered { answered = [] }
        // The same id each time: the daemon sends what it knows already once.
        let refusal = try await patiently {
            let sent = try await self.daemon.send(excuse, to: [sender], id: "answer-\(cursor)")
            let error = sent.lazy.compactMap(\.error).first
            // One that waits to be sent is sent some time.
            if let error, error.retry, error.code != .timedOut { throw error }
            return error
        }
        answered.insert(who)
        let name = who.printable()
        if let refusal {
            complain("no answer to \(name): \(refusal.message.printable(limit: 400))")
        } else {
            say("answered \(name)")
        }
    }

    /// Asks the daemon, and asks again where it is just being restarted.
    private func patiently<Answer: Sendable>(_ ask: () async throws -> Answer) async throws -> Answer {
        for _ in 0..<Self.maximumTries {
            do {
                return try await ask()
            } catch let error as ControlError where error.retry || error.code == .daemonNotRunning {
                try await Task.sleep(for: Self.pause)
            }
        }
        return try await ask()
    }

    /// What to say for an account; `nil` while its user is there.
    private func excuse(of account: String?) async throws -> String? {
        let status = try await daemon.status().first { $0.jid == account }
        let away = [ControlShow.away, .extendedAway, .doNotDisturb]
        guard let json = status?.json, let show = json.string("show"), away.contains(ControlShow(rawValue: show)) else {
            return nil
        }
        return json.string("status").map { "I am away: \($0)" } ?? "I am away."
    }
}
