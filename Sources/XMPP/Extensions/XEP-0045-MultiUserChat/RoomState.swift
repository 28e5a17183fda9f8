// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore

/// What is known of a room, and what its stanzas change in it. It believes nobody but the room: the caller gives it
/// only stanzas from addresses in it.
struct RoomState: Sendable {
    /// How far the user has come.
    enum Phase: Sendable, Hashable {
        /// Not there.
        case outside
        /// Has asked to be let in.
        case joining
        /// Is there.
        case joined
    }

    /// What follows from a presence.
    enum Step: Sendable, Equatable {
        /// Something happened.
        case event(RoomEvent)
        /// The nickname is taken: ask again under this one.
        case tryNickname(String)
        /// The room was made by coming in, and nobody else can until it is settled what it is like (XEP-0045 §10.1).
        case unlock
    }

    /// Under how many nicknames it is tried to come in; 3.
    static let maximumNicknameAttempts = 3
    /// How many of the latest messages are remembered, so that none is shown twice; 200.
    static let maximumRemembered = 200
    /// How many of the user's own messages may be under way before further ones wait; 1,000.
    static let maximumUnderWay = 1_000
    /// Of how many nicknames that the user has had it is known that they were the user's; 20.
    static let maximumNicknames = 20

    let jid: JID
    private(set) var phase = Phase.outside
    /// The user's nickname.
    private(set) var nickname: String
    private(set) var occupants = OccupantTable()
    private(set) var subject: String?
    /// When the last message came, or the user first, by the stream's clock.
    private(set) var lastMessage: Duration?
    /// Up to where the room's archive is known: at first, when the user came.
    private(set) var archivePlace: ArchivePlace?
    /// Who the user is to the room (XEP-0421), as of the last time there.
    private(set) var ownOccupantID: String?
    /// The user's own messages that the room has sent back: the last ``maximumRemembered``.
    private var sentBack: [Trace] = []
    /// The ids of the user's own messages that were said in this stay and that the room has not sent back.
    private(set) var underWay: Set<String> = []
    /// How often the user has asked to be let in: what is known of one stay is not known of the next.
    private(set) var stay = 0
    /// Why the room has not let the user in when it was asked last.
    private(set) var refusal: StanzaError?
    /// Whether the room has told something in this stay that was known before: then it has told all that came after.
    private(set) var reachesBack = false
    /// The nicknames that the user has had, the latest last.
    private(set) var nicknames: [String] = []
    private var attempts = 0
    private var remembered: Set<Trace> = []
    private var rememberedOrder: [Trace] = []

    /// What is kept of a text to know it again: the room chooses how long texts are, and a thousand rooms with two
    /// hundred each must stay small. The hash is one that nobody outside can make two texts meet in.
    private struct Trace: Hashable {
        private let hash: Int

        init(_ texts: String?...) { hash = texts.hashValue }
    }

    init(_ jid: JID, nickname: String) {
        self.jid = jid
        self.nickname = nickname
    }

    /// The user, while there.
    var me: Occupant? { phase == .joined ? occupants[nickname] : nil }

    /// The user asks to be let in.
    mutating func join(as nickname: String, at moment: Duration? = nil) {
        took(nickname)
        // Before anything was said: who comes in again asks for what was said since.
        lastMessage = lastMessage ?? moment
        archivePlace = archivePlace ?? ArchivePlace(last: nil, at: .now)
        phase = .joining
        attempts = 1
        occupants = OccupantTable()
        underWay = []
        reachesBack = false
        refusal = nil
        stay += 1
    }

    private mutating func took(_ nickname: String) {
        self.nickname = nickname
        nicknames.removeAll { $0 == nickname }
        nicknames.append(nickname)
        if nicknames.count > Self.maximumNicknames { nicknames.removeFirst() }
    }

    /// The user is about to say something, or a message of an earlier stay was asked about: nobody has to ask about it
    /// in this one.
    mutating func accounts(for id: String) {
        underWay.insert(id)
    }

    /// Nobody knows whether a message of the user's was said in this stay: it has to be asked about.
    mutating func doubts(_ id: String) {
        underWay.remove(id)
    }

    /// The session is over; the user is nowhere.
    mutating func disconnected() -> RoomEvent? {
        guard phase != .outside else { return nil }
        let wasJoined = phase == .joined
        phase = .outside
        occupants = OccupantTable()
        return wasJoined ? .left(RoomDeparture(.disconnected)) : nil
    }

    /// A presence from an address in the room, or from the room.
    mutating func received(_ presence: Presence) -> [Step] {
        guard phase != .outside else { return [] }
        if presence.kind == .error { return refused(presence.error ?? StanzaError(.undefinedCondition, kind: .cancel)) }
        guard let nick = presence.from?.resourcepart else { return [] }
        switch presence.kind {
        case .available: return available(nick, presence)
        case .unavailable: return unavailable(nick, presence)
        case .subscribe, .subscribed, .unsubscribe, .unsubscribed, .probe, .error: return []
        }
    }

    private mutating func refused(_ error: StanzaError) -> [Step] {
        // Once inside, an error is about something else, such as a nickname that is taken.
        guard phase == .joining else { return [] }
        if error.condition == .conflict, attempts < Self.maximumNicknameAttempts {
            attempts += 1
            took(nickname + "_")
            return [.tryNickname(nickname)]
        }
        phase = .outside
        occupants = OccupantTable()
        refusal = error
        return [.event(.refused(error))]
    }

    private mutating func available(_ nick: String, _ presence: Presence) -> [Step] {
        let occupant = Occupant(nick, presence)
        let known = occupants[nick]
        let codes = RoomNews(presence).codes
        // XEP-0045 §7.2.2: the own presence comes last, marked as such; the room may have given another nickname.
        let isEntry = phase == .joining && codes.contains(110)
        guard occupants.update(occupant, isUser: isEntry || nick == nickname) else {
            guard phase == .joined, let known else { return [] }
            return [.event(.occupantLeft(known, RoomDeparture(presence)))]
        }
        if isEntry {
            took(nick)
            phase = .joined
            ownOccupantID = occupant.occupantID
            return (codes.contains(201) ? [.unlock] : []) + [.event(.joined(occupant))]
        }
        guard phase == .joined, known != occupant else { return [] }
        return [.event(known == nil ? .occupantJoined(occupant) : .occupantChanged(occupant))]
    }

    private mutating func unavailable(_ nick: String, _ presence: Presence) -> [Step] {
        let news = RoomNews(presence)
        // RFC 7622 §3.4: a nickname is a resourcepart, here too where no address says so.
        if news.codes.contains(303), let new = news.item?["nick"].flatMap({ try? jid.withResource($0).resourcepart }),
            var occupant = occupants[nick]
        {
            occupants.remove(nick)
            occupant.nickname = new
            guard occupants.update(occupant, isUser: nick == nickname) else {
                occupant.nickname = nick
                return [.event(.occupantLeft(occupant, RoomDeparture(presence)))]
            }
            if nick == nickname { took(new) }
            return [.event(.nicknameChanged(from: nick, occupant))]
        }
        let departure = RoomDeparture(presence)
        // The own departure is that of the own nickname, whatever else is marked as the user's.
        if nick == nickname {
            phase = .outside
            occupants = OccupantTable()
            return [.event(.left(departure))]
        }
        guard let occupant = occupants.remove(nick), phase == .joined else { return [] }
        return [.event(.occupantLeft(occupant, departure))]
    }

    /// A message of type `groupchat` from an address in the room, or from the room.
    mutating func received(_ message: Message, now: Duration) -> RoomEvent? {
        guard phase == .joined else { return nil }
        let nick = message.from?.resourcepart
        // XEP-0045 §7.2.15: a subject is one where there is no body.
        if message.hasPayload("subject", namespace: Namespace.client), message.body == nil,
            message.thread == nil
        {
            subject = message.subject.flatMap { $0.isEmpty ? nil : $0 }
            return .subject(subject, by: nick)
        }
        let codes = RoomNews(message).codes
        if nick == nil, message.body == nil, !codes.isEmpty { return .configurationChanged(codes: codes) }
        let isHistory = message.delay.map { $0.from == nil || $0.from?.bare == jid } ?? false
        let isNew = remember(message)
        if isNew { note(message, at: message.delay?.stamp ?? .now) }
        let own = occupants[nickname]?.occupantID
        let isOwn = message.occupantID.map { $0 == own } ?? (nick == nickname)
        // What was said in an earlier stay may have been said under another name.
        let wasOwn = isOwn || isHistory && isOwnNickname(nick)
        if wasOwn { heard([message.id, message.originID].compactMap { $0 }) }
        guard isNew || !isHistory else {
            reachesBack = true
            return nil
        }
        lastMessage = now
        return .message(RoomMessage(message: message, nickname: nick, isOwn: isOwn, isHistory: isHistory))
    }

    /// A message of the room's archive, from while the user was away; it has the room's name for it.
    mutating func caughtUp(_ message: Message, at moment: DateTime?) -> RoomEvent? {
        note(message, at: moment)
        guard remember(message) else { return nil }
        let nick = message.from?.resourcepart
        let isOwn = message.occupantID.flatMap { id in ownOccupantID.map { $0 == id } } ?? isOwnNickname(nick)
        if isOwn { heard([message.id, message.originID].compactMap { $0 }) }
        // A subject is told at the entrance (XEP-0045 §7.2.15), and what settings were changed is past.
        guard nick != nil, message.body != nil || !message.hasPayload("subject", namespace: Namespace.client) else {
            return nil
        }
        return .message(RoomMessage(message: message, nickname: nick, isOwn: isOwn, isHistory: true))
    }

    private mutating func note(_ message: Message, at moment: DateTime?) {
        guard let name = message.stanzaID(by: jid), name.utf8.count <= ArchivePlace.maximumNameBytes else { return }
        archivePlace = ArchivePlace(last: name, at: moment)
    }

    /// All that was said before this time is known.
    mutating func hasHeard(upTo moment: Duration) {
        lastMessage = max(lastMessage ?? moment, moment)
    }

    /// Whether the room has sent back an own message with this id; as long as it is among the latest
    /// ``maximumRemembered``.
    func hasSentBack(_ id: String) -> Bool { sentBack.contains(Trace(id)) }

    /// Whether the user has had a nickname.
    func isOwnNickname(_ nick: String?) -> Bool { nick.map(nicknames.contains) ?? false }

    /// The room has sent back a message of the user's.
    private mutating func heard(_ ids: [String]) {
        for id in ids where sentBack.last != Trace(id) {
            sentBack.append(Trace(id))
            underWay.remove(id)
        }
        if sentBack.count > Self.maximumRemembered { sentBack.removeFirst(sentBack.count - Self.maximumRemembered) }
    }

    /// Remembers a message.
    ///
    /// - Returns: Whether it is new.
    private mutating func remember(_ message: Message) -> Bool {
        let trace =
            message.stanzaID(by: jid).map { Trace($0) }
            ?? Trace(message.from?.description, message.id, message.body)
        guard remembered.insert(trace).inserted else { return false }
        rememberedOrder.append(trace)
        if rememberedOrder.count > Self.maximumRemembered { remembered.remove(rememberedOrder.removeFirst()) }
        return true
    }
}
