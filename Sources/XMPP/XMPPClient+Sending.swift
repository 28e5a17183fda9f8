// SPDX-License-Identifier: Apache-2.0

public import XMPPCore

extension XMPPClient {
    /// Sends a message on the present session; see ``XMPPStream/send(_:)-(Message)``.
    @discardableResult
    public func send(_ message: Message) async throws(XMPPError) -> Message {
        guard let stream else { throw .notConnected }
        return try await stream.send(message)
    }

    /// Sends a presence on the present session only, such as one for a single contact; see ``setPresence(_:)``.
    public func send(_ presence: Presence) async throws(XMPPError) {
        guard let stream else { throw .notConnected }
        try await stream.send(presence)
    }

    /// Sends a request on the present session; see ``XMPPStream/request(_:timeout:)``.
    @discardableResult
    public func request(_ request: IQ, timeout: Duration = .seconds(30)) async throws(XMPPError) -> IQ {
        guard let stream else { throw .notConnected }
        return try await stream.request(request, timeout: timeout)
    }

    /// Answers a message on the present session; see ``XMPPStream/reply(_:to:)``.
    @discardableResult
    public func reply(_ body: String, to message: Message) async throws(XMPPError) -> Message {
        guard let stream else { throw .notConnected }
        return try await stream.reply(body, to: message)
    }

    /// Enters a room on the present session; see ``XMPPStream/join(_:as:password:history:unlocksNewRoom:timeout:)``.
    ///
    /// The client enters it again in each later session, until ``Room/leave(_:)``: what is returned is the room all the
    /// while.
    @discardableResult
    public func join(
        _ jid: JID, as nickname: String? = nil, password: String? = nil, history: RoomHistory = .some,
        unlocksNewRoom: Bool = true, timeout: Duration = .seconds(30)
    ) async throws(XMPPError) -> Room {
        guard let stream else { throw .notConnected }
        return try await stream.join(
            jid, as: nickname, password: password, history: history, unlocksNewRoom: unlocksNewRoom, timeout: timeout)
    }

    /// The rooms that the user is in now.
    public var joinedRooms: [Room] {
        get async { await stream?.joinedRooms ?? [] }
    }

    /// Waits until the server has handled what was sent on the present session; see ``XMPPStream/waitUntilHandled()``.
    public func waitUntilHandled() async throws(XMPPError) {
        guard let stream else { throw .notConnected }
        try await stream.waitUntilHandled()
    }
}
