// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
package import XMPPCrypto

/// The invitations that a client has given out by itself, where its server makes none (XEP-0379 §3.1, XEP-0401 §5.1),
/// and the invitations that it has accepted and whose inviter may see the user's presence for that (§3.3).
///
/// A value without files: who keeps it writes it down after each change.
public struct InvitationLedger: Sendable, Hashable {
    /// How many invitations may be open; 1,000.
    public static let maximumOpen = 1_000
    /// For how long an invitation is good; one week, as XEP-0379 §6.2 has it.
    public static let usualLifetime: Duration = .seconds(7 * 86_400)
    /// For how long one may be good; 366 days.
    public static let maximumLifetime: Duration = .seconds(366 * 86_400)

    /// An invitation that was given out. Each is good for one person.
    public struct Open: Sendable, Hashable {
        /// What proves it.
        public var token: InvitationToken
        /// Until when it is good.
        public var expiry: DateTime
        /// For whom alone; `nil` for whoever has it.
        public var invitee: JID?

        /// Makes an invitation.
        public init(_ token: InvitationToken, expiry: DateTime, invitee: JID? = nil) {
            self.token = token
            self.expiry = expiry
            self.invitee = invitee?.bare
        }
    }

    /// Somebody whose invitation was accepted.
    public struct Expected: Sendable, Hashable {
        /// Who invited.
        public var inviter: JID
        /// Until when a request of theirs is approved.
        public var expiry: DateTime

        /// Makes an expectation.
        public init(_ inviter: JID, expiry: DateTime) {
            self.inviter = inviter.bare
            self.expiry = expiry
        }
    }

    /// The invitations that were given out and not used, oldest first.
    public var open: [Open] = []
    /// Those whose invitations were accepted and who have not asked yet.
    public var expected: [Expected] = []

    /// Makes an empty ledger.
    public init() {}

    /// Gives an invitation out.
    ///
    /// - Parameters:
    ///   - now: The present time.
    ///   - lifetime: For how long it is good; at most ``maximumLifetime``.
    ///   - invitee: For whom alone.
    /// - Returns: The invitation; `nil` when ``maximumOpen`` are open.
    public mutating func issue(
        at now: DateTime, for lifetime: Duration = usualLifetime, to invitee: JID? = nil
    ) -> Open? {
        issue(at: now, for: lifetime, to: invitee, SecureRandom())
    }

    /// Gives one out whose token comes from this source.
    package mutating func issue(
        at now: DateTime, for lifetime: Duration, to invitee: JID?, _ random: some RandomSource
    ) -> Open? {
        forgetExpired(at: now)
        // 128 bits; XEP-0379 §6.1 asks for 80.
        guard open.count < Self.maximumOpen, let token = InvitationToken(random.identifier()) else { return nil }
        let invitation = Open(token, expiry: now.after(Self.bounded(lifetime)), invitee: invitee)
        open.append(invitation)
        return invitation
    }

    /// Somebody asks to see the user's presence.
    ///
    /// - Parameters:
    ///   - jid: Who.
    ///   - token: What they prove an invitation with.
    ///   - now: The present time.
    /// - Returns: Whether that is to be approved at once. The invitation is used up then; one that has expired, that is
    ///   another one's, or that nobody knows changes nothing (XEP-0379 §6.2).
    public mutating func redeem(_ token: InvitationToken?, by jid: JID, at now: DateTime) -> Bool {
        forgetExpired(at: now)
        if let place = expected.firstIndex(where: { $0.inviter == jid.bare }) {
            expected.remove(at: place)
            return true
        }
        guard let token, let place = open.firstIndex(where: { Self.isSame($0.token, token) }),
            open[place].invitee.map({ $0 == jid.bare }) ?? true
        else { return false }
        open.remove(at: place)
        return true
    }

    /// The invitation of somebody was accepted, and the server does not remember what that means (XEP-0379 §3.3).
    public mutating func expect(_ inviter: JID, at now: DateTime, for lifetime: Duration = usualLifetime) {
        forgetExpired(at: now)
        expected.removeAll { $0.inviter == inviter.bare }
        guard expected.count < Self.maximumOpen else { return }
        expected.append(Expected(inviter, expiry: now.after(Self.bounded(lifetime))))
    }

    private mutating func forgetExpired(at now: DateTime) {
        open.removeAll { $0.expiry <= now }
        expected.removeAll { $0.expiry <= now }
    }

    private static func bounded(_ lifetime: Duration) -> Duration { max(.zero, min(lifetime, maximumLifetime)) }

    private static func isSame(_ left: InvitationToken, _ right: InvitationToken) -> Bool {
        ConstantTime.equals(Array(left.text.utf8), Array(right.text.utf8))
    }
}

extension DateTime {
    fileprivate func after(_ duration: Duration) -> DateTime {
        DateTime(millisecondsSinceEpoch: millisecondsSinceEpoch + duration.components.seconds * 1_000)
    }
}
