// SPDX-License-Identifier: Apache-2.0

public import XMPPCore

/// Where messages wait until they can be sent, and what becomes of them is noted.
///
/// A message is known by its id and its addressee: the same twice is one message.
public protocol Outbox: Sendable {
    /// Adds a message; returns when it is where a crash does not reach, in a store that outlives the process.
    ///
    /// - Parameters:
    ///   - message: The message, with an id and an addressee.
    ///   - account: The account that sends it.
    ///   - expires: When it is not worth sending any more; `nil` for never.
    /// - Returns: How it is kept: the one that was there before where the id and the addressee are known.
    /// - Throws: Whatever the store cannot do, ``OutboxError`` among it; nothing was added then.
    func add(_ message: Message, of account: JID, expires: DateTime?) async throws -> OutboxEntry

    /// The messages of an account that wait to be sent, in the order in which they came; those whose time has run out
    /// are noted as expired first.
    ///
    /// - Parameters:
    ///   - account: The account that sends them.
    ///   - addressees: Whose messages are left out: those to rooms that the user is not in wait until the rooms are
    ///     entered.
    ///   - limit: How many at most.
    func waiting(of account: JID, passingOver addressees: Set<JID>, limit: Int) async throws -> [OutboxEntry]

    /// The messages of an account of which nobody knows whether the server has them, in the order in which they were
    /// sent: they were ``DeliveryState/sent`` in a session that is gone.
    func uncertain(of account: JID) async throws -> [OutboxEntry]

    /// The messages to rooms that are ``DeliveryState/sent`` and that no room has sent back yet, in the order in which
    /// they were added. A server that has one says nothing of the room.
    func unreflected(of account: JID) async throws -> [OutboxEntry]

    /// What is known of a message; `nil` where it is not known.
    func entry(_ id: String, to recipient: JID, of account: JID) async throws -> OutboxEntry?

    /// What is known of all messages with an id: the same may go to several addressees.
    func entries(_ id: String, of account: JID) async throws -> [OutboxEntry]

    /// Which messages were added last, the newest first: those whose receipts may come after a start.
    ///
    /// - Parameters:
    ///   - account: The account that sends them.
    ///   - limit: How many at most.
    func latest(of account: JID, limit: Int) async throws -> [OutboxKey]

    /// Gives an element after each change of any message, from now on; changes that come together may be one element.
    /// Ends when nothing can change any more, or with the task that reads it.
    func changes() -> AsyncStream<Void>

    /// Notes how far a message has come; one that has come further stays there (``DeliveryState/leads(to:)``).
    ///
    /// - Returns: How it is kept then; `nil` where it is not known.
    @discardableResult
    func note(
        _ state: DeliveryState, of id: String, to recipient: JID, of account: JID, because reason: String?
    ) async throws -> OutboxEntry?

    /// Resolves a doubt: a message that is ``OutboxEntry/isUncertain``, or that a room has not sent back, waits to be
    /// sent again, or is known to have arrived at the server, or in the room. Of others nothing is changed.
    ///
    /// - Parameters:
    ///   - id: The message's id.
    ///   - recipient: Whom it is for.
    ///   - account: Whose it is.
    ///   - isAtServer: Whether it has arrived; `nil` where nobody can say, so that it stays uncertain.
    func resolve(_ id: String, to recipient: JID, of account: JID, isAtServer: Bool?) async throws
}

extension Outbox {
    /// The messages of an account that wait to be sent, whoever they are for.
    public func waiting(of account: JID, limit: Int) async throws -> [OutboxEntry] {
        try await waiting(of: account, passingOver: [], limit: limit)
    }
}

/// What a message in an ``Outbox`` is known by.
public struct OutboxKey: Sendable, Hashable {
    /// Its id.
    public var id: String
    /// Its addressee.
    public var recipient: JID

    /// Makes a key.
    public init(id: String, recipient: JID) {
        self.id = id
        self.recipient = recipient
    }

    /// Whether somebody may say what became of the message: the addressee, whichever client it is; where it came back,
    /// the server there too (RFC 6120 §8.3.1).
    public func isAnswered(by sender: JID, asError: Bool) -> Bool {
        sender.bare == recipient.bare || asError && sender == recipient.domain
    }
}

/// A message in an ``Outbox``.
public struct OutboxEntry: Sendable, Hashable {
    /// The message.
    public var message: Message
    /// How far it has come.
    public var state: DeliveryState
    /// Whether it may be at the server, and be doubled when it is sent again: it was on its way when a session was
    /// lost.
    public var isUncertain: Bool
    /// When it was added.
    public var queuedAt: DateTime
    /// When its state changed last.
    public var changedAt: DateTime
    /// When it is not worth sending any more; `nil` for never.
    public var expires: DateTime?
    /// Why it failed, for people.
    public var reason: String?

    /// Whether it is for a room: there it has arrived when the room sends it back (XEP-0045 §7.4).
    public var isForRoom: Bool { message.kind == .groupchat }

    /// Whether a doubt about it can be resolved.
    package var isInDoubt: Bool { isUncertain || isForRoom && state == .sent }

    /// Makes an entry.
    public init(
        message: Message, state: DeliveryState = .queued, isUncertain: Bool = false, queuedAt: DateTime,
        changedAt: DateTime? = nil, expires: DateTime? = nil, reason: String? = nil
    ) {
        self.message = message
        self.state = state
        self.isUncertain = isUncertain
        self.queuedAt = queuedAt
        self.changedAt = changedAt ?? queuedAt
        self.expires = expires
        self.reason = reason
    }
}

/// Why an ``Outbox`` does not take a message.
public enum OutboxError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The message has no id or no addressee.
    case anonymous
    /// So many messages wait already.
    case full(Int)

    /// For people.
    public var description: String {
        switch self {
        case .anonymous: "a message in the outbox needs an id and an addressee"
        case .full(let count): "\(count) messages wait already; try again when they are sent"
        }
    }
}
