// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
public import XMPPCore
internal import XMPPXML

/// A room for many (XEP-0045): who is in it, what it is about, and what is said.
///
/// ```swift
/// let room = try await stream.join(try JID("coven@chat.shakespeare.lit"), as: "thirdwitch")
/// for occupant in room.occupants { print(occupant.nickname) }
/// try await room.send("When shall we three meet again?")
/// for try await line in room.messages where !line.isOwn { print(line.nickname ?? "", line.message.body ?? "") }
/// ```
///
/// What happens in it comes as ``XMPPEvent/room(_:_:)`` and to ``RoomDelegate``. A client that keeps sessions up
/// (``XMPPClient``) enters its rooms again in a new session, and shows no message twice.
public final class Room: Sendable {
    /// What was asked for when the room was entered.
    struct Wish: Sendable {
        var nickname: String
        var password: String?
        var history: RoomHistory
        var unlocks: Bool
    }

    private struct Shared: Sendable {
        var state: RoomState
        /// What to ask for in a new session; `nil` when the user does not want to be there.
        var wish: Wish?
        weak var stream: XMPPStream?
    }

    /// The room's address.
    public let jid: JID
    private let hub: EventHub
    private let shared: Locked<Shared>

    init(_ jid: JID, nickname: String, hub: EventHub) {
        self.jid = jid
        self.hub = hub
        shared = Locked(Shared(state: RoomState(jid, nickname: nickname)))
    }

    // MARK: Looking

    /// Whether the user is in the room.
    public var isJoined: Bool { shared.withLock { $0.state.phase == .joined } }

    /// The user's nickname; it may be another than the one that was asked for.
    public var nickname: String { shared.withLock { $0.state.nickname } }

    /// The user in the room; `nil` while outside.
    public var me: Occupant? { shared.withLock { $0.state.me } }

    /// Who is in the room, the user included, by nickname; empty while the user is not.
    public var occupants: [Occupant] {
        shared.withLock { $0.state.phase == .joined ? $0.state.occupants.all : [] }
            .sorted { $0.nickname < $1.nickname }
    }

    /// Somebody in the room.
    public func occupant(_ nickname: String) -> Occupant? {
        shared.withLock { $0.state.phase == .joined ? $0.state.occupants[nickname] : nil }
    }

    /// Whether the user has sent a message that the room tells of, though not to this session: who had the user's
    /// nickname meanwhile is somebody else, where the room tells that (XEP-0421).
    package func isOwn(_ message: Message) -> Bool {
        guard message.from?.bare == jid else { return false }
        let (nickname, own) = shared.withLock { ($0.state.nickname, $0.state.ownOccupantID) }
        if let own, let id = message.occupantID { return id == own }
        return message.from?.resourcepart == nickname
    }

    /// What the room is about; `nil` for nothing.
    public var subject: String? { shared.withLock { $0.state.subject } }

    /// What is said from now on, the user's own messages included as the room sends them back.
    public var messages: EventSequence<RoomMessage> {
        EventSequence(hub.subscribe(limit: XMPPStream.defaultEventLimit)) { [jid] delivery in
            if case .room(let room, .message(let message)) = delivery.event, room.jid == jid { message } else { nil }
        }
    }

    /// What happens from now on.
    public var events: EventSequence<RoomEvent> {
        EventSequence(hub.subscribe(limit: XMPPStream.defaultEventLimit)) { [jid] delivery in
            if case .room(let room, let event) = delivery.event, room.jid == jid { event } else { nil }
        }
    }

    // MARK: For the stream

    /// Whether the user is in the room, or about to be, on a stream.
    func isEntered(on stream: XMPPStream) -> Bool {
        shared.withLock { $0.state.phase != .outside && $0.stream === stream }
    }

    /// What to ask for in a new session.
    var wish: Wish? { shared.withLock { $0.wish } }

    /// The user asks to be let in.
    func join(_ wish: Wish, on stream: XMPPStream) {
        shared.withLock { shared in
            shared.wish = wish
            shared.stream = stream
            shared.state.join(as: wish.nickname, at: stream.configuration.clock.now)
        }
    }

    /// The user wants to be there, from the next session on unless asked for before.
    func want(_ wish: Wish) {
        shared.withLock { if $0.wish == nil { $0.wish = wish } }
    }

    /// The room does not know the user any more.
    func forgotUser() {
        _ = shared.withLock { $0.state.disconnected() }
    }

    /// Forgets that the user wants to be there.
    func forget() {
        shared.withLock { $0.wish = nil }
    }

    /// Whether the user is there, or wants to be.
    var isWanted: Bool { shared.withLock { $0.wish != nil || $0.state.phase != .outside } }

    /// Changes what is known.
    func update<Outcome: Sendable>(_ change: @Sendable (inout RoomState) -> Outcome) -> Outcome {
        shared.withLock { change(&$0.state) }
    }

    /// Whether the room has sent back a message of the user's; as long as it is among the latest 200 of them.
    func hasSentBack(_ id: String) -> Bool { shared.withLock { $0.state.hasSentBack(id) } }

    /// What is known of a message of the user's in this stay: whether it was said, or asked about.
    func isAccountedFor(_ id: String) -> Bool { shared.withLock { $0.state.underWay.contains(id) } }

    /// Which stay of the user's this is.
    var stay: Int { shared.withLock { $0.state.stay } }

    /// Why the room has not let the user in when it was asked last; `nil` when it has, or has not answered.
    var refusal: StanzaError? { shared.withLock { $0.state.refusal } }

    /// Whether more may be said before the room has sent back what was said.
    var takesMore: Bool { shared.withLock { $0.state.underWay.count < RoomState.maximumUnderWay } }

    /// Whether the room has told all that was said since the user was there last.
    var reachesBack: Bool { shared.withLock { $0.state.reachesBack } }

    /// Whether somebody in the room is, or was, the user.
    func isUser(_ jid: JID, _ occupantID: String?) -> Bool {
        shared.withLock { shared in
            if let occupantID, let own = shared.state.me?.occupantID { return occupantID == own }
            return shared.state.isOwnNickname(jid.resourcepart)
        }
    }

    /// When the last message came.
    var lastMessage: Duration? { shared.withLock { $0.state.lastMessage } }

    /// Up to where the room's archive is known; `nil` where nothing is.
    var archivePlace: ArchivePlace? { shared.withLock { $0.state.archivePlace } }

    /// The stream on which the user is in the room.
    func stream() throws(XMPPError) -> XMPPStream {
        guard let stream = shared.withLock({ $0.state.phase == .outside ? nil : $0.stream }) else {
            throw XMPPError(.notConnected, "You are not in \(jid).")
        }
        return stream
    }

    /// The address of somebody in the room.
    func address(of nickname: String) throws(XMPPError) -> JID {
        do {
            return try jid.withResource(nickname)
        } catch {
            throw XMPPError(.invalidStanza, "“\(nickname)” cannot be a nickname: \(error).")
        }
    }

    // MARK: Speaking

    /// Says something to all in the room.
    ///
    /// - Returns: The message as it was sent; the room sends it back with an id of its own, and only then it was said.
    /// - Throws: ``XMPPError`` as ``XMPPStream/send(_:)-(Message)``, ``XMPPError/Code/notConnected`` outside of the
    ///   room.
    @discardableResult
    public func send(_ body: String) async throws(XMPPError) -> Message {
        try await send(Message(to: jid, kind: .groupchat, body: body))
    }

    /// Sends a message to all in the room, such as reactions; its addressee and type are those of the room.
    @discardableResult
    public func send(_ message: Message) async throws(XMPPError) -> Message {
        let stream = try stream()
        guard isJoined else { throw XMPPError(.notConnected, "You are not in \(jid) yet.") }
        var message = message
        message.to = jid
        message.kind = .groupchat
        return try await stream.send(message)
    }

    /// Says something to one in the room alone (XEP-0045 §7.5).
    @discardableResult
    public func whisper(_ body: String, to nickname: String) async throws(XMPPError) -> Message {
        var message = Message(to: try address(of: nickname), body: body)
        message.append(Element("x", namespace: MultiUserChat.user))
        return try await stream().send(message)
    }

    /// Gives the room another subject; an empty one takes it away (XEP-0045 §8.1).
    public func setSubject(_ subject: String) async throws(XMPPError) {
        var message = Message(to: jid, kind: .groupchat)
        message.subject = subject
        try await stream().send(message)
    }

    /// Takes another nickname; ``RoomEvent/nicknameChanged(from:_:)`` says that it was had (XEP-0045 §7.6).
    public func changeNickname(to nickname: String) async throws(XMPPError) {
        try await stream().send(Presence(to: try address(of: nickname)))
    }

    /// Leaves (XEP-0045 §7.14), and waits at most 5 seconds until the room has seen it.
    public func leave(_ status: String? = nil) async throws(XMPPError) {
        forget()
        guard let stream = try? stream() else { return }
        try await stream.leave(self, status)
    }
}

extension Room: Hashable {
    /// Whether both are the same object.
    public static func == (left: Room, right: Room) -> Bool { left === right }

    /// Feeds the object's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The rooms of a stream, or of all streams of a client.
package final class RoomDirectory: Sendable {
    /// How many rooms are known; 1,000. Beyond that, those are forgotten that the user has left.
    package static let maximumRooms = 1_000

    private let rooms = Locked<[JID: Room]>([:])

    /// Makes a directory without rooms.
    package init() {}

    /// The room with this address, known before or made now; `nil` when the user is in as many as may be known.
    func room(_ jid: JID, nickname: String, hub: EventHub) -> Room? {
        rooms.withLock { rooms in
            if let known = rooms[jid] { return known }
            if rooms.count >= Self.maximumRooms { rooms = rooms.filter { $0.value.isWanted } }
            guard rooms.count < Self.maximumRooms else { return nil }
            let room = Room(jid, nickname: nickname, hub: hub)
            rooms[jid] = room
            return room
        }
    }

    /// The room that an address belongs to, if it is known.
    subscript(jid: JID) -> Room? { rooms.withLock { $0.isEmpty ? nil : $0[jid.bare] } }

    /// The rooms that the user wants to be in, sorted by address.
    package var wanted: [Room] {
        all.filter { $0.wish != nil }.sorted { $0.jid < $1.jid }
    }

    /// Notes a room that the user was in when the program ran last: it is entered with the next session.
    ///
    /// - Returns: Whether it is noted; `false` where as many are known as may be.
    @discardableResult
    package func want(_ jid: JID, as nickname: String, password: String? = nil) -> Bool {
        guard let room = room(jid, nickname: nickname, hub: EventHub()) else { return false }
        room.want(Room.Wish(nickname: nickname, password: password, history: .none, unlocks: true))
        return true
    }

    /// Whether the user is in a room, or wants to be.
    package func isWanted(_ jid: JID) -> Bool { self[jid]?.isWanted ?? false }

    /// Whether the user comes back into a room in a new session.
    package func isEnteredAgain(_ jid: JID) -> Bool { self[jid]?.wish != nil }

    /// The name that the user has in a room, or wants to have.
    package func nickname(in jid: JID) -> String? { self[jid]?.nickname }

    /// Does not enter a room again.
    package func forget(_ jid: JID) {
        self[jid]?.forget()
    }

    /// Every room that is known, in no order.
    var all: [Room] { rooms.withLock { Array($0.values) } }
}
