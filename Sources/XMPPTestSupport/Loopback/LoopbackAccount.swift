// SPDX-License-Identifier: Apache-2.0

internal import XMPP
internal import XMPPCore
internal import XMPPCrypto
internal import XMPPProtocol
internal import XMPPXML

/// A connected resource, seen from the router: a client's session, or a buddy that lives in the server.
protocol LoopbackEndpoint: AnyObject {
    /// The full JID.
    var jid: JID { get }
    /// The last presence that was broadcast; `nil` while unavailable.
    var presence: Presence? { get set }
    /// Whether it asked for the roster, so that it gets pushes (RFC 6121 §2.1.6).
    var isInterested: Bool { get }
    /// Who got a directed presence, and so must hear of the end (RFC 6121 §4.6.3).
    var directed: Set<JID> { get set }

    /// Hands a stanza over.
    func deliver(_ stanza: Element)
    /// Ends the connection with a stream error.
    func end(_ error: StreamError)
}

/// One account of a ``LoopbackServer``.
final class LoopbackAccount {
    /// Messages kept for an account that is away.
    static let maximumOfflineMessages = 1_000

    /// Messages that its archive has.
    static let maximumArchivedMessages = 10_000

    let jid: JID
    /// `nil` when nobody can log in.
    private(set) var password: String?
    /// The programs that have access (XEP-0494).
    var clients: [AccountClient] = []
    var roster = LoopbackRoster()
    /// Connected resources by resourcepart.
    var endpoints: [String: any LoopbackEndpoint] = [:]
    /// Messages that wait for the account to become available (RFC 6121 §8.5.2.2.1).
    var offline: [Element] = []
    /// What was sent and received, where archives are offered.
    var archive: [LoopbackArchived] = []
    /// Tokens by the name of the installation that they were given to.
    var tokens: [String: LoopbackTokens] = [:]
    /// The mechanisms for which a client has brought the salted password (XEP-0480).
    var upgrades: [String] = []
    private var keys: [Digest: SCRAMKeyMaterial] = [:]

    init(jid: JID, password: String?) {
        self.jid = jid.bare
        self.password = password
    }

    /// Gives it another password.
    func change(password: String) {
        self.password = password
        keys = [:]
        tokens = [:]
    }

    /// The connected resources that are available, in the order of their names.
    var available: [any LoopbackEndpoint] {
        endpoints.values.filter { $0.presence != nil }.sorted { $0.jid < $1.jid }
    }

    /// The keys for SCRAM, derived once; `nil` without a password.
    func scramKeys(_ digest: Digest, iterations: Int) -> SCRAMKeyMaterial? {
        if let known = keys[digest], known.iterations == iterations { return known }
        guard let password,
            let made = try? SCRAMKeyMaterial(
                digest: digest, password: SecretBytes(password), salt: SecureRandom().bytes(16), iterations: iterations)
        else { return nil }
        keys[digest] = made
        return made
    }
}
