// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import JabberControl
internal import SocketIO

/// `listen --exec`: runs a command of the shell for each event, some at a time.
///
/// Where the events have a consumer, one counts as dealt with when its command and those of all before it have ended
/// with 0. A command that fails then ends everything: what comes behind it must not be dealt with twice.
final class EventRunner: Sendable {
    private struct Entry: Sendable {
        let cursor: String?
        var code: Int32?
    }

    private struct State: Sendable {
        /// What is not dealt with, oldest first; the number of the first.
        var entries: [Entry] = []
        var first = 0
        var count = 0
        var isClosed = false
        var failure: ControlError?
    }

    /// The longest value that a variable of the environment gets, in bytes; the whole event is on standard input.
    static let maximumVariableBytes = 100_000

    /// The cursors up to which all is dealt with, as they grow.
    let dealtWith: AsyncStream<String>
    /// Why a command has ended everything, at once; ends with the runner.
    let failures: AsyncStream<ControlError>

    private let context: CommandContext
    private let command: String
    private let most: Int?
    private let stopsAtFailure: Bool
    private let places: DispatchSemaphore
    private let cursors: AsyncStream<String>.Continuation
    private let failing: AsyncStream<ControlError>.Continuation
    private let idle = DispatchGroup()
    private let state = Locked(State())

    init(_ context: CommandContext, _ command: String, stopsAtFailure: Bool) {
        self.context = context
        self.command = command
        self.stopsAtFailure = stopsAtFailure
        most = context.line.int("count")
        places = DispatchSemaphore(value: context.line.int("jobs") ?? 1)
        (dealtWith, cursors) = AsyncStream.makeStream()
        (failures, failing) = AsyncStream.makeStream()
    }

    /// Runs the command for an event, once there is a place for it; whoever calls waits, and reads nothing meanwhile.
    ///
    /// - Returns: Whether there may be more.
    func take(_ event: JSONValue) -> Bool {
        guard let event = event.objectValue else { return true }
        places.wait()
        let number = state.withLock { state -> Int? in
            guard state.failure == nil, !state.isClosed else { return nil }
            state.entries.append(Entry(cursor: event.string("cursor")))
            idle.enter()
            // That something is missing is no event to count.
            if event.string("type") != "gap" { state.count += 1 }
            return state.first + state.entries.count - 1
        }
        guard let number else {
            places.signal()
            return false
        }
        DispatchQueue.global().async { [self] in
            let code = run(event)
            finished(number, code, event)
            places.signal()
            idle.leave()
        }
        return state.withLock { state in most.map { state.count < $0 } ?? true }
    }

    /// Takes no more events, and waits for the commands that run.
    ///
    /// - Returns: Why a command ended everything; `nil` when none did.
    func close() async -> ControlError? {
        let failure = await settled()
        cursors.finish()
        failing.finish()
        return failure
    }

    private func settled() async -> ControlError? {
        state.withLock { $0.isClosed = true }
        await withCheckedContinuation { continuation in
            idle.notify(queue: .global()) { continuation.resume() }
        }
        return state.withLock { $0.failure }
    }

    private func run(_ event: JSONObject) -> Int32 {
        var variables: [String: String] = [:]
        for entry in event.entries where entry.value.objectValue == nil && entry.value.arrayValue == nil {
            let text = Column.exact(entry.value)
            guard text.utf8.count <= Self.maximumVariableBytes else { continue }
            variables["JABBERCTL_EVENT_\(Self.variable(entry.key))"] = text
        }
        return context.environment.runCommand(command, Array((JSONValue.object(event).text + "\n").utf8), variables)
    }

    /// `stanzaId` becomes `STANZA_ID`.
    private static func variable(_ key: String) -> String {
        key.reduce(into: "") { name, letter in
            if letter.isUppercase { name.append("_") }
            name += letter.uppercased()
        }
    }

    private func finished(_ number: Int, _ code: Int32, _ event: JSONObject) {
        let place = event.string("cursor").map { " at the cursor \($0)" } ?? ""
        let error = ControlError(
            .temporary,
            "the command ended with \(code) for an event\(place); the next listen of this consumer begins with it")
        let (cursor, failure) = state.withLock { state -> (String?, ControlError?) in
            state.entries[number - state.first].code = code
            var cursor: String?
            while let entry = state.entries.first, let code = entry.code, code == 0 || !stopsAtFailure {
                cursor = entry.cursor ?? cursor
                state.entries.removeFirst()
                state.first += 1
            }
            guard code != 0, stopsAtFailure, state.failure == nil else { return (cursor, nil) }
            state.failure = error
            return (cursor, error)
        }
        if code != 0, !stopsAtFailure { context.output.note("the command ended with \(code) for an event\(place)") }
        if let cursor { cursors.yield(cursor) }
        if let failure { failing.yield(failure) }
    }
}
