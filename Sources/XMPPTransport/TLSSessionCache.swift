// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import SocketIO

/// Whose sessions of TLS these are: nobody else is offered them.
struct TLSSessionKey: Hashable, Sendable {
    /// For whom the connection is, an account as a rule: servers can tell by a session who comes back.
    let owner: String
    /// Whom the server had to prove to be.
    let identity: ReferenceIdentity
    /// Whether the application protocol was negotiated (RFC 8446 §4.2.11 ties early data to it, and some servers more).
    let offersProtocol: Bool
}

/// Owns a session of OpenSSL (`SSL_SESSION`), with the secret in it.
///
/// Unchecked: its count of references is OpenSSL's and atomic, and a session is in the hands of one connection at a
/// time.
final class TLSSession: @unchecked Sendable {
    let handle: OpaquePointer

    init(owning handle: OpaquePointer) {
        self.handle = handle
    }

    deinit {
        SSL_SESSION_free(handle)
    }
}

/// The sessions of TLS that servers are ready to resume (RFC 8446 §2.2, RFC 5077), of one ``TLSContext``: so each
/// belongs to what that trusts. In memory only; each is offered once.
final class TLSSessionCache: Sendable {
    /// Whose sessions are kept, the last ones used; 64.
    static let maximumKeys = 64
    /// Sessions of one key, the latest ones; 2, which is what a server of TLS 1.3 sends.
    static let maximumSessions = 2

    private struct Entry {
        let key: TLSSessionKey
        var sessions: [TLSSession]
    }

    /// The one used last comes last.
    private let entries = Locked<[Entry]>([])

    /// How many sessions there are.
    var count: Int { entries.withLock { $0.reduce(0) { $0 + $1.sessions.count } } }

    /// Takes the latest session out.
    func take(for key: TLSSessionKey) -> TLSSession? {
        entries.withLock { entries in
            guard let index = entries.firstIndex(where: { $0.key == key }) else { return nil }
            let session = entries[index].sessions.popLast()
            if entries[index].sessions.isEmpty { entries.remove(at: index) }
            return session
        }
    }

    /// Keeps a session; the oldest go when there are too many.
    func keep(_ session: TLSSession, for key: TLSSessionKey) {
        entries.withLock { entries in
            var entry = Entry(key: key, sessions: [])
            if let index = entries.firstIndex(where: { $0.key == key }) { entry = entries.remove(at: index) }
            entry.sessions = entry.sessions.suffix(Self.maximumSessions - 1) + [session]
            entries = entries.suffix(Self.maximumKeys - 1) + [entry]
        }
    }

    /// Drops the sessions of a key.
    func forget(_ key: TLSSessionKey) {
        entries.withLock { $0.removeAll { $0.key == key } }
    }

    /// Drops the sessions of an owner.
    func forget(owner: String) {
        entries.withLock { $0.removeAll { $0.key.owner == owner } }
    }
}

extension TLSContext {
    /// Drops the sessions that are kept for somebody: the next handshake is a whole one.
    package func forgetSessions(of owner: String) {
        sessions.forget(owner: owner)
    }
}
