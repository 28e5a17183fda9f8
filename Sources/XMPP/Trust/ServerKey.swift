// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPTransport

/// The key of a server, as logins have met it.
public struct ServerKey: Sendable, Hashable {
    /// How many are remembered of an account; 8, the latest ones.
    public static let maximumRemembered = 8

    /// Whom the server proved to be: the account's domain, or the host of a WebSocket.
    public var identity: String
    /// What the key is known by.
    public var fingerprint: KeyFingerprint
    /// Who issued its certificate, as one line.
    public var issuer: String
    /// End of the certificate's validity, ISO 8601 in UTC.
    public var notAfter: String

    /// Makes a key.
    public init(identity: String, fingerprint: KeyFingerprint, issuer: String, notAfter: String) {
        self.identity = identity
        self.fingerprint = fingerprint
        self.issuer = issuer
        self.notAfter = notAfter
    }
}

/// A server has another key than at every login that is remembered.
///
/// That is the usual thing where a certificate was renewed, and it is also what somebody in between with a valid
/// certificate looks like. A login that is bound to the channel (``XMPPStream/channelBinding``) tells the two apart.
public struct ServerKeyChange: Sendable, Hashable {
    /// The key of the last login.
    public var old: ServerKey
    /// The key now.
    public var new: ServerKey

    /// Makes a change.
    public init(old: ServerKey, new: ServerKey) {
        self.old = old
        self.new = new
    }
}

extension XMPPStream {
    /// Compares the key of a server with those of earlier logins; the login that follows will be remembered with it.
    func meet(_ security: ChannelSecurity, identity: String) {
        serverKey = security.keyFingerprint.map { key in
            ServerKey(identity: identity, fingerprint: key, issuer: security.issuer, notAfter: security.notAfter)
        }
        keyChange = nil
        guard let new = serverKey,
            let known = memory?.serverKeys.filter({ $0.identity == identity }), let old = known.first,
            !known.contains(where: { $0.fingerprint == new.fingerprint })
        else { return }
        let change = ServerKeyChange(old: old, new: new)
        keyChange = change
        log(.step, "the server has another key than before: \(new.fingerprint), which was \(old.fingerprint)")
        report(.serverKeyChanged(change))
    }

    /// The login has succeeded: its key is the latest known one.
    func rememberKey() {
        guard let key = serverKey, memory?.serverKeys.first != key else { return }
        remember { memory in
            memory.serverKeys.removeAll { $0.identity == key.identity && $0.fingerprint == key.fingerprint }
            memory.serverKeys.insert(key, at: 0)
            memory.serverKeys.removeLast(max(0, memory.serverKeys.count - ServerKey.maximumRemembered))
        }
    }
}

extension XMPPStream {
    /// For whom sessions of TLS are kept.
    var tlsSessionOwner: String? { configuration.resumesTLS ? configuration.jid.bare.description : nil }

    /// What came after a handshake has failed, which may be due to the session that was resumed: the next one is a
    /// whole one.
    func forgetTLSSessions() {
        if let tlsSessionOwner { tlsContext?.forgetSessions(of: tlsSessionOwner) }
    }
}

/// Asks what DNS says about the certificate of a place.
typealias ProofSource = @Sendable (ConnectionTarget) async throws(ConnectError) -> DANEAnswer

extension XMPPStream {
    /// Asks what DNS says about the certificate of a place, where the account wants that.
    var proofSource: ProofSource {
        guard configuration.trust == .dane else { return { _ async throws(ConnectError) in .notAsked } }
        let (connector, domain, isGiven) = (connector, configuration.jid.connectDomain, override != nil)
        return { target async throws(ConnectError) in
            try await connector.proof(of: target, domain: domain, isGiven: isGiven)
        }
    }
}
