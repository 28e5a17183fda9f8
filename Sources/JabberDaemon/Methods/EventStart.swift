// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP
internal import XMPPStorage

/// Where somebody who listens begins in the journal, and whether it is noted how far they come.
struct EventStart: Sendable {
    /// How long the name of a consumer may be, in bytes; 200.
    static let maximumNameBytes = 200

    private enum Place: Sendable {
        case now
        case cursor(Int64)
        case time(DateTime)
    }

    private let place: Place
    private let consumer: String?
    private let acknowledges: Bool

    /// With what comes from now on.
    static let now = EventStart()

    private init() {
        place = .now
        consumer = nil
        acknowledges = false
    }

    /// - Throws: `ControlError` when a parameter is wrong.
    init(_ parameters: Parameters) throws(ControlError) {
        consumer = try Self.name(in: parameters)
        acknowledges = try parameters.choice("ack", of: ["auto", "manual"]) != "manual"
        if let text = try parameters.string("since") {
            if let cursor = EventCursor.read(text) {
                place = .cursor(cursor)
            } else if let time = DateTime(text) {
                place = .time(time)
            } else {
                throw parameters.wrong(
                    "since", "must be the cursor of an event, or a time such as 2026-01-02T03:04:05Z")
            }
        } else {
            place = .now
        }
    }

    /// The name of a consumer; `nil` when absent.
    static func name(in parameters: Parameters) throws(ControlError) -> String? {
        guard let name = try parameters.string("consumer") else { return nil }
        guard !name.isEmpty, name.utf8.count <= maximumNameBytes else {
            throw parameters.wrong("consumer", "must have from 1 to \(maximumNameBytes) bytes")
        }
        return name
    }

    /// Whether nothing of what is written down is asked for.
    var isOfNow: Bool {
        guard case .now = place else { return false }
        return consumer == nil
    }

    /// The event after which to begin. A named consumer begins where it has stopped, unless something else is asked
    /// for; one that is not known is known from then on, as one that has dealt with everything up to there.
    func cursor(in journal: EventJournal, now: Int64) async throws(StorageError) -> Int64 {
        let known: Int64? = if let consumer { try await journal.position(of: consumer) } else { nil }
        let start: Int64
        switch place {
        case .cursor(let cursor): start = cursor
        case .time(let time): start = try await journal.cursor(before: time)
        case .now: start = known ?? now
        }
        if let consumer, known == nil { try await journal.acknowledge(start, by: consumer) }
        return start
    }

    /// Everything up to a cursor was handed over.
    func dealtWith(_ cursor: Int64, in journal: EventJournal) async throws(StorageError) {
        guard let consumer, acknowledges else { return }
        try await journal.acknowledge(cursor, by: consumer)
    }
}

/// Cursors as callers write them.
enum EventCursor {
    /// A cursor; `nil` when the text is none.
    static func read(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }
}

/// `ack`: a named consumer has dealt with events.
enum AckMethod {
    static func run(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        guard let consumer = try EventStart.name(in: call.parameters) else {
            throw call.parameters.wrong("consumer", "is missing")
        }
        guard let cursor = EventCursor.read(try call.parameters.required("cursor")) else {
            throw call.parameters.wrong("cursor", "must be the cursor of an event")
        }
        let session = try await call.session
        let store = try await session.keptStore()
        do throws(StorageError) {
            try await store.journal.acknowledge(cursor, by: consumer)
            var result = session.heading
            result["consumer"] = .string(consumer)
            result["cursor"] = .string(String(try await store.journal.position(of: consumer) ?? cursor))
            return result
        } catch {
            throw ControlError(error, account: session.name)
        }
    }
}

extension AccountSession {
    /// What is kept of the session.
    ///
    /// - Throws: `ControlError` in a daemon for one command, which keeps nothing.
    func keptStore() async throws(ControlError) -> AccountStore {
        guard holding != nil else {
            throw ControlError(
                .daemonNotRunning, "only a daemon that stays keeps messages and events; run: jabberctl daemon start",
                account: name)
        }
        return try await openStore()
    }
}
