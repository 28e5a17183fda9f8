// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
public import XMPPXML

/// Where a client keeps what an interrupted session left, until it is resumed.
///
/// There are two kinds. One that is simple ignores ``keep(_:of:)``: the state is saved when a connection is lost and
/// removed when the session goes on or has ended, and a program that is killed while connected finds nothing rather
/// than something outdated. One that says so in ``keepsProgress`` is told of every step while the session goes on,
/// before the step counts: what arrives is not acknowledged before it is kept, and what is sent is kept before its
/// first byte leaves. A program that is killed at any moment then goes on with the same session, and nothing is lost or
/// doubled. `DurableStreamStateStore` of the module `XMPPStorage` is of this kind.
///
/// The state holds the text of messages and the name of the session, which is a secret: keep it as you keep the
/// password.
public protocol StreamStateStore: Sendable {
    /// What was saved last for an account; `nil` where nothing is.
    ///
    /// - Throws: Whatever the store cannot do. The session is begun anew then; with ``keepsProgress`` nothing is begun
    ///   before the store can say what is there.
    func state(of account: JID) async throws -> StreamState?

    /// Replaces what is saved for an account; `nil` removes it.
    ///
    /// - Throws: Whatever the store cannot do; the chance to resume in another process is lost then, no more.
    func save(_ state: StreamState?, of account: JID) async throws

    /// Whether ``keep(_:of:)`` is to be called while a session goes on; false unless said otherwise.
    var keepsProgress: Bool { get }

    /// Keeps some steps of a session, all or none of them, and returns when they are where a crash does not reach.
    ///
    /// The steps of one account come one call after another.
    ///
    /// - Throws: Whatever the store cannot do. The senders among the steps fail with it, and their stanzas are not
    ///   sent; the other steps are brought again after a while. A ``KeepingFailure`` may say that this is of no use.
    func keep(_ steps: [StreamProgress], of account: JID) async throws
}

/// An error of a ``StreamStateStore`` that says whether it is worth trying again.
///
/// A store that refuses one stanza for good would otherwise be asked for ever, and nothing that comes behind it would
/// be kept.
public protocol KeepingFailure: Error {
    /// Whether what was to be kept can never be kept as it is, for instance as it is too large. It is found among the
    /// steps and given up: a stanza that arrived counts as handled, a sender is told, and the rest is kept. Other
    /// errors pass, as a full disk does: the same steps are brought again.
    var isFinal: Bool { get }
}

extension StreamStateStore {
    /// Is false.
    public var keepsProgress: Bool { false }

    /// Does nothing.
    public func keep(_ steps: [StreamProgress], of account: JID) async throws {}
}

/// A step of a session, as far as it matters to whoever would go on with it in another process.
public enum StreamProgress: Sendable, Hashable {
    /// A new session began, of which nothing has been sent but what this state holds; it replaces the one before.
    case began(StreamState)
    /// The server has named the session: it can be resumed from now on.
    case named(id: String, location: String?, maximumDuration: Duration?)
    /// These stanzas are about to be sent, behind the unacknowledged ones.
    case sent([UnacknowledgedStanza])
    /// The server has handled so many stanzas since the session began, modulo 2^32.
    case acknowledged(UInt32)
    /// These messages of ``StreamState/unsettled`` have turned out to be at the server. (Those that are sent again need
    /// no such step: ``sent(_:)`` settles what it names.)
    case settled([UnacknowledgedStanza])
    /// These messages of ``StreamState/unsettled`` are to rooms and in an ``Outbox``, which finds out what became of
    /// them.
    case handedBack([UnacknowledgedStanza])
    /// These messages of ``StreamState/unsettled`` cannot be sent again as they are, for a reason that is for people.
    case refused([UnacknowledgedStanza], because: String)
    /// These messages and requests for a subscription (RFC 6121 §3.1.3) arrived and were reported, or none were; each
    /// names its sender. With them and all other stanzas so many were handled since the session began, modulo 2^32;
    /// `nil` in a session without Stream Management, where nobody counts.
    case received([Element], handled: UInt32?)
}
