// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import SocketIO
public import XMPP
public import XMPPCore
internal import XMPPCrypto
public import XMPPXML

extension LoopbackServer {
    /// What the server offers from now on; streams that are open keep what they have.
    public var options: LoopbackOptions { router.options }

    /// Changes what the server offers. The certificate and the ports stay what they are.
    public func changeOptions(_ change: @Sendable (inout LoopbackOptions) -> Void) {
        change(&router.options)
    }

    /// Makes an account; one that exists is left as it is.
    ///
    /// - Throws: ``TestSupportError`` when the name cannot be a localpart.
    public func addAccount(_ username: String, password: String) throws(TestSupportError) {
        let account = try router.addAccount(username, password: password)
        for bot in bots.values where bot.buddy.isEverybodysFriend { befriend(account, bot) }
    }

    /// Forgets all tokens of an account, as a server does whose password was changed.
    ///
    /// - Throws: ``TestSupportError`` when there is no such account.
    public func revokeTokens(of username: String) throws(TestSupportError) {
        try account(username).tokens = [:]
    }

    /// Says which programs have access to an account (XEP-0494), where ``LoopbackOptions/managesClients`` lets it ask.
    ///
    /// - Throws: ``TestSupportError`` when there is no such account.
    public func setClients(_ clients: [AccountClient], of username: String) throws(TestSupportError) {
        try account(username).clients = clients
    }

    /// Makes an invitation to have an account (XEP-0445), good for one.
    ///
    /// - Parameters:
    ///   - username: The name of the account; `nil` leaves it to who is invited.
    ///   - isExpired: Whether it is too late for it already.
    /// - Returns: The address that somebody opens.
    /// - Throws: ``TestSupportError`` when the name cannot be a localpart.
    public func invite(_ username: String? = nil, isExpired: Bool = false) throws(TestSupportError) -> XMPPURI {
        let now = DateTime.now.millisecondsSinceEpoch
        let token = SecureRandom().identifier()
        let invitation = LoopbackInvitation(
            username: username,
            expiry: DateTime(millisecondsSinceEpoch: now + (isExpired ? -1_000 : 86_400_000)))
        guard let uri = invitation.uri(token, domain: domain) else {
            throw TestSupportError("“\(username ?? "")” cannot be an account")
        }
        router.invitations[token] = invitation
        return uri
    }

    /// Whether there is an account of this name.
    public func hasAccount(_ username: String) -> Bool { router.account(named: username) != nil }

    /// The mechanisms for which a client of an account has brought what the server lacked, in order (XEP-0480).
    ///
    /// - Throws: ``TestSupportError`` when there is no such account.
    public func upgrades(of username: String) throws(TestSupportError) -> [String] {
        try account(username).upgrades
    }

    /// Adds a buddy, who comes online at once when there is a presence to begin with.
    ///
    /// - Throws: ``TestSupportError`` when the name cannot be a localpart, or the resource not a resourcepart.
    public func add(_ buddy: LoopbackBuddy) throws(TestSupportError) {
        let account = try router.addAccount(buddy.username, password: nil)
        guard let jid = try? account.jid.withResource(buddy.resource) else {
            throw TestSupportError("“\(buddy.resource)” cannot be a resource")
        }
        let bare = account.jid
        let bot = LoopbackBot(buddy, jid: jid, router: router) { [weak self, executor] in
            executor.queue.async { [weak self] in self?.assumeIsolated { $0.bots[bare]?.react() } }
        }
        bots[bare] = bot
        for other in router.accounts.values where buddy.isEverybodysFriend && other.password != nil {
            befriend(other, bot)
        }
        if let presence = buddy.presence { bot.become(presence) }
        for appointment in buddy.schedule {
            _ = clock.schedule(after: appointment.delay, on: executor) { [weak self] in
                self?.assumeIsolated { $0.bots[bare]?.become(appointment.presence) }
            }
        }
    }

    private func befriend(_ account: LoopbackAccount, _ bot: LoopbackBot) {
        guard let other = router.account(bot.jid) else { return }
        router.befriend(account, other, name: bot.buddy.name, groups: bot.buddy.groups)
    }

    /// Lets a buddy come online, change their status or, with kind unavailable, go offline.
    ///
    /// - Throws: ``TestSupportError`` when there is no such buddy.
    public func set(_ presence: Presence, of username: String) throws(TestSupportError) {
        try bot(username).become(presence)
    }

    /// Sends a stanza in a buddy's name.
    ///
    /// - Throws: ``TestSupportError`` when there is no such buddy.
    public func send(_ stanza: some Stanza, as username: String) throws(TestSupportError) {
        try bot(username).send(stanza.element)
    }

    /// What came for a buddy, in order: the last 1,000 stanzas.
    ///
    /// - Throws: ``TestSupportError`` when there is no such buddy.
    public func stanzas(for username: String) throws(TestSupportError) -> [Element] {
        try bot(username).received
    }

    /// Lets two accounts see each other, as if both had asked and approved.
    ///
    /// - Parameters:
    ///   - one: The localpart of the first account.
    ///   - other: That of the second.
    ///   - name: Under which name the first has the second in the roster.
    ///   - groups: In which groups.
    /// - Throws: ``TestSupportError`` when there is no such account.
    public func befriend(
        _ one: String, _ other: String, name: String? = nil, groups: [String] = []
    ) throws(TestSupportError) {
        router.befriend(try account(one), try account(other), name: name, groups: groups)
    }

    /// An account's roster as the server has it.
    ///
    /// - Throws: ``TestSupportError`` when there is no such account.
    public func roster(of username: String) throws(TestSupportError) -> [RosterItem] {
        try account(username).roster.items.values.sorted { $0.jid < $1.jid }
    }

    // MARK: Into a client's stream

    /// Sends an element into every stream of an account's clients as it is, whatever it says.
    public func push(_ element: Element, to username: String) {
        for session in sessions(of: username) { session.send(element) }
    }

    /// Sends bytes into every stream of an account's clients.
    public func inject(_ bytes: [UInt8], into username: String) {
        for session in sessions(of: username) { session.transport.send(bytes) }
    }

    /// Sends text into every stream of an account's clients.
    public func inject(_ text: String, into username: String) {
        inject(Array(text.utf8), into: username)
    }

    /// Ends the streams of an account's clients with an error (RFC 6120 §4.9).
    public func endStreams(of username: String, with error: StreamError) {
        for session in sessions(of: username) { session.fail(error) }
    }

    /// Ends the connections of an account's clients without a word.
    public func cutConnections(of username: String, _ ending: LoopbackFault.Ending = .reset) {
        for session in sessions(of: username) {
            // The lowest layer: neither the stream nor TLS says goodbye.
            if ending == .reset { session.socket.reset() } else { session.socket.close() }
            session.lose()
        }
    }

    /// Ends as a process that is killed, and is there again at once: every connection is reset, and what was in memory
    /// alone is gone: sessions, what they had not been delivered, and who is in which room. Accounts, rosters,
    /// archives, and messages that are kept for later were on its disk; buddies stay where they are.
    public func crash() {
        let lost = Array(sessions.values)
        sessions = [:]
        router.hibernating = [:]
        router.handledByEndedSession = [:]
        router.holding = []
        atWork = [:]
        router.rooms?.forgetGuests()
        for session in lost {
            session.socket.reset()
            session.vanish()
        }
    }

    /// Puts everybody out of every room without telling them, as a service that was started anew.
    public func forgetRooms() {
        router.rooms?.forgetGuests()
    }

    private func sessions(of username: String) -> [LoopbackSession] {
        sessions.values.filter { $0.address?.localpart == username && $0.phase != .hibernating }.sorted {
            $0.id < $1.id
        }
    }

    private func account(_ username: String) throws(TestSupportError) -> LoopbackAccount {
        guard let account = router.account(named: username) else {
            throw TestSupportError("the loopback server has no account “\(username)”")
        }
        return account
    }

    private func bot(_ username: String) throws(TestSupportError) -> LoopbackBot {
        guard let bot = bots[try account(username).jid] else {
            throw TestSupportError("the loopback server has no buddy “\(username)”")
        }
        return bot
    }
}
