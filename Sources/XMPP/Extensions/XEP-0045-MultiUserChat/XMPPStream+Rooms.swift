// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
public import XMPPCore
internal import XMPPCrypto
internal import XMPPXML

extension XMPPStream {
    /// Enters a room (XEP-0045 §7.2), and waits until it has let the user in. Where the nickname is taken, it is tried
    /// with one or two underscores behind it.
    ///
    /// - Parameters:
    ///   - jid: The room's address.
    ///   - nickname: The name to have there; the account's localpart unless said otherwise.
    ///   - password: What opens its door, where it has a lock.
    ///   - history: How much of what was said before is wanted.
    ///   - unlocksNewRoom: Whether a room that is made by coming in is opened for others with its service's settings.
    ///   - timeout: How long the room may take; default 30 s.
    /// - Returns: The room; the same object for the same address as long as the user is in it.
    /// - Throws: ``XMPPError`` with ``XMPPError/Code/stanzaError`` when the room refuses, ``XMPPError/Code/timedOut``,
    ///   ``XMPPError/Code/invalidStanza`` for what is no address of a room, ``XMPPError/Code/overflow`` in a thousand
    ///   rooms already, or what ended the session.
    @discardableResult
    public func join(
        _ jid: JID, as nickname: String? = nil, password: String? = nil, history: RoomHistory = .some,
        unlocksNewRoom: Bool = true, timeout: Duration = .seconds(30)
    ) async throws(XMPPError) -> Room {
        guard jid.localpart != nil, jid.isBare else {
            throw XMPPError(.invalidStanza, "\(jid) is not the address of a room: that is room@service.")
        }
        let nickname = nickname ?? account.localpart ?? "guest"
        guard let room = rooms.room(jid, nickname: nickname, hub: hub) else {
            throw XMPPError(.overflow, "You are in \(RoomDirectory.maximumRooms) rooms: leave one first.")
        }
        _ = try room.address(of: nickname)
        if room.isJoined, room.isEntered(on: self), room.nickname == nickname { return room }
        try await enter(
            room, Room.Wish(nickname: nickname, password: password, history: history, unlocks: unlocksNewRoom))
        guard !room.isJoined else { return room }
        // Its answer may be here before what was asked has been kept.
        if let refusal = room.refusal { throw XMPPError(refusal, from: jid) }
        let timer = configuration.clock.schedule(after: timeout, on: executor) { [weak self] in
            self?.assumeIsolated { stream in
                stream.endWaiting(.failure(XMPPError(.timedOut, "\(jid) did not let you in within \(timeout.spoken).")))
                {
                    $0 == .entry(jid)
                }
            }
        }
        let outcome = await wait(for: .entry(jid))
        timer.cancel()
        try outcome.get()
        return room
    }

    /// The rooms that the user is in.
    public var joinedRooms: [Room] { rooms.all.filter { $0.isJoined && $0.isEntered(on: self) } }

    /// Asks to be let in, without waiting.
    private func enter(_ room: Room, _ wish: Room.Wish) async throws(XMPPError) {
        room.join(wish, on: self)
        try await write(presence(for: room, wish).element)
    }

    private func presence(for room: Room, _ wish: Room.Wish) throws(XMPPError) -> Presence {
        var presence = withCapabilities(Presence(to: try room.address(of: room.nickname)))
        var x = Element("x", namespace: MultiUserChat.namespace, children: [wish.history.element])
        if let password = wish.password {
            x.append(Element("password", namespace: MultiUserChat.namespace, text: password))
        }
        presence.append(x)
        return presence
    }

    /// Enters the rooms again that the user was in, in a new session. What was said meanwhile is asked for, and nothing
    /// that was shown before is shown again.
    package func rejoinRooms() async {
        let unsettled = unsettledRooms.merging(doubtfulRooms, uniquingKeysWith: min)
        for room in rooms.all {
            guard var wish = room.wish, !room.isEntered(on: self) else { continue }
            wish.nickname = room.nickname
            // A little more than has passed: clocks differ, and what is known already is told from what is not.
            var age = room.lastMessage.map { max(.zero, configuration.clock.now - $0) + .seconds(10) }
            if let sentAt = unsettled[room.jid] {
                let passed = DateTime.now.millisecondsSinceEpoch - sentAt.millisecondsSinceEpoch
                age = max(age ?? .zero, .milliseconds(max(0, passed)) + .seconds(10))
            }
            if let age { wish.history = RoomHistory(maximumAge: age) }
            try? await enter(room, wish)
        }
    }

    /// How long a room is waited for that does not say that the user has left.
    private static let leaveTimeout: Duration = .seconds(5)

    /// Leaves a room; see ``Room/leave(_:)``.
    func leave(_ room: Room, _ status: String?) async throws(XMPPError) {
        let jid = room.jid
        try await write(Presence(.unavailable, status: status, to: try room.address(of: room.nickname)).element)
        guard room.isEntered(on: self) else { return }
        let timer = configuration.clock.schedule(after: Self.leaveTimeout, on: executor) { [weak self] in
            self?.assumeIsolated { $0.endWaiting { $0 == .exit(jid) } }
        }
        let outcome = await wait(for: .exit(jid))
        timer.cancel()
        try outcome.get()
    }

    // MARK: What comes from rooms

    /// Takes a presence of somebody in a room that the user is in, or about to be.
    ///
    /// - Returns: Whether it was one.
    func routedToRoom(_ presence: Presence) -> Bool {
        guard let from = presence.from, let room = rooms[from], room.isEntered(on: self) else { return false }
        for step in room.update({ $0.received(presence) }) { take(step, of: room) }
        return true
    }

    private func take(_ step: RoomState.Step, of room: Room) {
        switch step {
        case .event(let event):
            report(.room(room, event))
            settle(event, of: room)
        case .tryNickname:
            guard let wish = room.wish, let presence = try? presence(for: room, wish) else { return }
            perform(machine.send(presence.element))
        case .unlock:
            guard room.wish?.unlocks == true else { return }
            // XEP-0045 §10.1.2: an empty form takes the settings that the service suggests.
            let query = Element(
                "query", namespace: MultiUserChat.owner, children: [DataForm(.submit).element])
            let request = IQ(.set, to: room.jid, id: newStanzaID(), payload: query)
            if requests.sending(id: request.id ?? "", to: room.jid) { perform(machine.send(request.element)) }
        }
    }

    private func settle(_ event: RoomEvent, of room: Room) {
        switch event {
        case .joined:
            endWaiting { $0 == .entry(room.jid) }
        case .refused(let error):
            room.forget()
            endWaiting(.failure(XMPPError(error, from: room.jid))) { $0 == .entry(room.jid) }
        case .left(let departure):
            if departure.isFinal { room.forget() }
            endWaiting { $0 == .exit(room.jid) }
            endWaiting(.failure(XMPPError(.notConnected, "\(room.jid) has shown you out."))) { $0 == .entry(room.jid) }
        case .occupantJoined, .occupantChanged, .occupantLeft, .nicknameChanged, .subject, .message,
            .configurationChanged:
            break
        }
    }

    /// Takes a message to all in a room that the user is in.
    ///
    /// - Returns: Whether it was one.
    func routedToRoom(_ message: Message) -> Bool {
        guard message.element.hasAttribute("type", "groupchat"), let from = message.from, let room = rooms[from],
            room.isEntered(on: self)
        else { return false }
        let now = configuration.clock.now
        if let event = room.update({ $0.received(message, now: now) }) { report(.room(room, event)) }
        return true
    }

    /// The session is over: the user is in no room any more.
    func leaveRooms() {
        for room in rooms.all where room.isEntered(on: self) {
            if let event = room.update({ $0.disconnected() }) { report(.room(room, event)) }
        }
    }
}

extension StanzaRoutes {
    /// Surfaces invitations that rooms pass on (XEP-0045 §7.8.2); who invites is whom the room names.
    mutating func addMultiUserChat() {
        announce([MultiUserChat.namespace])
        addMessage("x", namespace: MultiUserChat.user, from: .anyone, feature: nil) { (_, message, x) in
            guard message.kind != .groupchat, let room = message.from, room.isBare, room.localpart != nil,
                let invite = x.firstChild("invite", namespace: MultiUserChat.user)
            else { return .delivered }
            var invitation = RoomInvitation(
                room, password: x.firstChild("password", namespace: MultiUserChat.user)?.text,
                reason: invite.firstChild("reason", namespace: MultiUserChat.user)?.text)
            invitation.from = invite["from"].flatMap { try? JID($0) } ?? room
            return .event(.invitation(invitation))
        }
    }
}
