// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
public import XMPPCore
public import XMPPProtocol

/// An outbox that ends with the program.
public final class InMemoryOutbox: Outbox {
    /// How many messages may wait to be sent for an account; 10,000.
    public static let maximumWaiting = 10_000
    /// Of how many messages of an account, the newest, it is remembered what became of them; 1,000.
    public static let maximumRemembered = 1_000

    /// The messages of one account.
    private struct Messages {
        var entries: [OutboxKey: OutboxEntry] = [:]
        /// In the order in which they were added.
        var order: [OutboxKey] = []
        /// How many of them wait to be sent.
        var waiting = 0

        /// Changes what is known of a message.
        mutating func set(_ state: DeliveryState, _ key: OutboxKey, _ reason: String?) {
            guard let known = entries[key] else { return }
            if known.state == .queued { waiting -= 1 }
            if state == .queued { waiting += 1 }
            entries[key]?.state = state
            entries[key]?.isUncertain = false
            entries[key]?.reason = reason
            entries[key]?.changedAt = .now
        }

        /// Forgets what became of messages long ago. What is not done yet is never forgotten.
        mutating func prune() {
            // Now and then, not each time: it takes as long as there are messages.
            guard order.count - waiting >= 2 * InMemoryOutbox.maximumRemembered else { return }
            let old = Set(
                order.dropLast(InMemoryOutbox.maximumRemembered).filter { key in
                    entries[key].map { $0.state != .queued && $0.state != .sent } ?? true
                })
            for key in old { entries[key] = nil }
            order.removeAll(where: old.contains)
        }

        /// Messages whose time has run out are not sent any more.
        ///
        /// - Returns: Whether there were any.
        mutating func expire() -> Bool {
            guard waiting > 0 else { return false }
            let now = DateTime.now
            let late = order.filter { key in
                guard let entry = entries[key], entry.state == .queued, let end = entry.expires else { return false }
                return end <= now
            }
            for key in late { set(.expired, key, nil) }
            return !late.isEmpty
        }
    }

    private let accounts = Locked<[JID: Messages]>([:])
    private let listeners = ChangeListeners()

    /// Makes an empty outbox.
    public init() {}

    /// Adds a message.
    ///
    /// - Throws: `OutboxError`.
    public func add(_ message: Message, of account: JID, expires: DateTime?) async throws -> OutboxEntry {
        guard let id = message.id, let recipient = message.to else { throw OutboxError.anonymous }
        let key = OutboxKey(id: id, recipient: recipient)
        let entry = accounts.withLock { accounts -> OutboxEntry? in
            if let known = accounts[account.bare]?.entries[key] { return known }
            guard accounts[account.bare]?.waiting ?? 0 < Self.maximumWaiting else { return nil }
            let entry = OutboxEntry(message: message, queuedAt: .now, expires: expires)
            accounts[account.bare, default: Messages()].entries[key] = entry
            accounts[account.bare]?.order.append(key)
            accounts[account.bare]?.waiting += 1
            accounts[account.bare]?.prune()
            return entry
        }
        guard let entry else { throw OutboxError.full(Self.maximumWaiting) }
        listeners.raise()
        return entry
    }

    /// The messages that wait to be sent, oldest first.
    public func waiting(
        of account: JID, passingOver addressees: Set<JID>, limit: Int
    ) async throws -> [OutboxEntry] {
        let (found, hasExpired) = accounts.withLock { accounts -> ([OutboxEntry], Bool) in
            let hasExpired = accounts[account.bare]?.expire() ?? false
            guard let messages = accounts[account.bare], messages.waiting > 0 else { return ([], hasExpired) }
            var found: [OutboxEntry] = []
            for key in messages.order where found.count < limit {
                if let entry = messages.entries[key], entry.state == .queued, !addressees.contains(key.recipient) {
                    found.append(entry)
                }
            }
            return (found, hasExpired)
        }
        if hasExpired { listeners.raise() }
        return found
    }

    /// Those to rooms that cannot be asked; of others a program knows what it has sent as long as it runs.
    public func uncertain(of account: JID) async throws -> [OutboxEntry] {
        accounts.withLock { accounts in
            guard let messages = accounts[account.bare] else { return [] }
            return messages.order.compactMap { messages.entries[$0] }.filter(\.isUncertain)
        }
    }

    /// The messages to rooms that were sent and that no room has sent back yet, oldest first.
    public func unreflected(of account: JID) async throws -> [OutboxEntry] {
        accounts.withLock { accounts in
            guard let messages = accounts[account.bare] else { return [] }
            return messages.order.compactMap { messages.entries[$0] }.filter { $0.isForRoom && $0.state == .sent }
        }
    }

    /// What is known of a message.
    public func entry(_ id: String, to recipient: JID, of account: JID) async throws -> OutboxEntry? {
        accounts.withLock { $0[account.bare]?.entries[OutboxKey(id: id, recipient: recipient)] }
    }

    /// What is known of all messages with an id.
    public func entries(_ id: String, of account: JID) async throws -> [OutboxEntry] {
        accounts.withLock { accounts in
            guard let messages = accounts[account.bare] else { return [] }
            return messages.order.filter { $0.id == id }.compactMap { messages.entries[$0] }
        }
    }

    /// Which messages were added last, the newest first.
    public func latest(of account: JID, limit: Int) async throws -> [OutboxKey] {
        accounts.withLock { Array(($0[account.bare]?.order ?? []).suffix(max(0, limit)).reversed()) }
    }

    /// Gives an element after each change of any message.
    public func changes() -> AsyncStream<Void> { listeners.stream() }

    /// Notes how far a message has come.
    @discardableResult
    public func note(
        _ state: DeliveryState, of id: String, to recipient: JID, of account: JID, because reason: String?
    ) async throws -> OutboxEntry? {
        let key = OutboxKey(id: id, recipient: recipient)
        let entry = accounts.withLock { accounts -> OutboxEntry? in
            guard let entry = accounts[account.bare]?.entries[key] else { return nil }
            if entry.state.leads(to: state) { accounts[account.bare]?.set(state, key, reason) }
            return accounts[account.bare]?.entries[key]
        }
        listeners.raise()
        return entry
    }

    /// Resolves a doubt.
    public func resolve(_ id: String, to recipient: JID, of account: JID, isAtServer: Bool?) async throws {
        let key = OutboxKey(id: id, recipient: recipient)
        accounts.withLock { accounts in
            guard accounts[account.bare]?.entries[key]?.isInDoubt == true else { return }
            guard let isAtServer else {
                accounts[account.bare]?.entries[key]?.isUncertain = true
                return
            }
            accounts[account.bare]?.set(isAtServer ? .server : .queued, key, nil)
        }
        listeners.raise()
    }
}
