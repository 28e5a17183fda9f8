// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPCrypto
internal import XMPPXML

/// The heart of a ``LoopbackServer``: who has an account, who is connected, and where a stanza goes (RFC 6121 §8).
///
/// Knows nothing of sockets. Not `Sendable`: it belongs to the server's actor.
final class LoopbackRouter {
    let domain: JID
    var options: LoopbackOptions
    /// Accounts by bare JID.
    private(set) var accounts: [JID: LoopbackAccount] = [:]
    /// The wall clock, for the stamps of delayed messages.
    let wallClock: () -> DateTime
    /// Sessions that wait for another connection, by name.
    var hibernating: [String: LoopbackSession] = [:]
    /// How many stanzas of their clients were handled by sessions that are over, by name.
    var handledByEndedSession: [String: UInt32] = [:]
    /// Sessions, over or not, of which the server has something in its hands.
    var holding: [LoopbackSession] = []
    /// The rooms, at a domain of their own.
    private(set) lazy var rooms: LoopbackRooms? = (try? JID("rooms.\(domain.domainpart)")).map { address in
        LoopbackRooms(
            domain: address, now: wallClock, reflects: { [unowned self] in options.reflectsRoomMessages },
            loses: { [unowned self] in options.losesRoomMessages },
            tellsHistory: { [unowned self] in options.tellsRoomHistory }
        ) { [unowned self] stanza, jid in
            if let endpoint = endpoint(jid) { return endpoint.deliver(stanza) }
            if let message = try? Message(stanza) { deliver(message, to: jid.bare) }
        }
    }
    private var pushes = 0
    /// Invitations that were made and not used, by their tokens.
    var invitations: [String: LoopbackInvitation] = [:]
    /// Accounts that have asked for their end.
    var leaving: Set<JID> = []

    init(domain: JID, options: LoopbackOptions, wallClock: @escaping () -> DateTime) {
        self.domain = domain
        self.options = options
        self.wallClock = wallClock
    }

    /// The account of a bare or full JID.
    func account(_ jid: JID) -> LoopbackAccount? { accounts[jid.bare] }

    /// The account of a name as it is given at log-in.
    func account(named name: String) -> LoopbackAccount? {
        guard let jid = try? JID(localpart: name, domainpart: domain.domainpart) else { return nil }
        return accounts[jid]
    }

    /// Makes an account; one that exists is left as it is.
    @discardableResult
    func addAccount(_ name: String, password: String?) throws(TestSupportError) -> LoopbackAccount {
        let jid: JID
        do {
            jid = try JID(localpart: name, domainpart: domain.domainpart)
        } catch {
            throw TestSupportError("“\(name)” cannot be an account: \(error)")
        }
        if let known = accounts[jid] { return known }
        let account = LoopbackAccount(jid: jid, password: password)
        accounts[jid] = account
        return account
    }

    /// Forgets an account.
    func removeAccount(_ jid: JID) { accounts[jid.bare] = nil }

    /// Connects a resource.
    func connect(_ endpoint: any LoopbackEndpoint) {
        guard let resource = endpoint.jid.resourcepart else { return }
        account(endpoint.jid)?.endpoints[resource] = endpoint
    }

    /// Disconnects a resource; its contacts are told (RFC 6121 §4.5.2).
    func disconnect(_ endpoint: any LoopbackEndpoint) {
        guard let resource = endpoint.jid.resourcepart, let account = account(endpoint.jid),
            account.endpoints[resource] === endpoint
        else { return }
        becomeUnavailable(endpoint, Presence(.unavailable))
        rooms?.disconnect(endpoint)
        account.endpoints[resource] = nil
    }

    /// The connected resource of a full JID.
    func endpoint(_ jid: JID) -> (any LoopbackEndpoint)? {
        jid.resourcepart.flatMap { account(jid)?.endpoints[$0] }
    }

    /// Takes a stanza from a connected resource.
    func route(_ stanza: Element, from sender: any LoopbackEndpoint) {
        var stanza = stanza
        stanza["from"] = sender.jid.description
        do {
            switch stanza.localName {
            case "message": route(try Message(stanza), from: sender)
            case "presence": route(try Presence(stanza), from: sender)
            default: route(try IQ(stanza), from: sender)
            }
        } catch {
            // RFC 6120 §8.3.3.8 for addresses; §8.2.3 for the rest.
            let condition: StanzaError.Condition =
                if case .invalidAddress = error { .jidMalformed } else { .badRequest }
            bounce(stanza, StanzaError(condition, kind: .modify), to: sender)
        }
    }

    /// Takes a message that could not be handed over to where it would have gone otherwise.
    func reroute(_ stanza: Element) {
        guard let message = try? Message(stanza), let to = message.to else { return }
        deliver(message, to: to.bare)
    }

    /// Answers a stanza with an error; errors and results are never answered (RFC 6120 §8.3.1).
    func bounce(_ stanza: Element, _ error: StanzaError, to sender: any LoopbackEndpoint) {
        guard stanza["type"] != "error", stanza["type"] != "result" else { return }
        var answer = stanza
        answer["from"] = stanza["to"] ?? sender.jid.bare.description
        answer["to"] = sender.jid.description
        answer["type"] = "error"
        answer.append(error.element)
        sender.deliver(answer)
    }

    /// Tells every interested resource of an account about one contact (RFC 6121 §2.1.6).
    func push(_ contact: JID, of account: LoopbackAccount) {
        for endpoint in account.endpoints.values where endpoint.isInterested {
            pushes += 1
            let query = account.roster.push(contact, withVersion: options.offersRosterVersioning)
            endpoint.deliver(IQ(.set, to: endpoint.jid, id: "push\(pushes)", payload: query).element)
        }
    }
}
