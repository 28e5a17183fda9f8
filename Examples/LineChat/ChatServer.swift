// SPDX-License-Identifier: Apache-2.0

import ExampleSockets

/// Tells everybody what anybody says, the speaker included.
@MainActor
final class ChatServer {
    /// Connections at most; further ones are closed.
    static let maximumMembers = 100
    /// Characters of a nickname at most.
    static let maximumNickname = 20

    private struct Member {
        let connection: LineConnection
        var nickname: String?
    }

    private let listener: Listener
    private var members: [ObjectIdentifier: Member] = [:]

    /// Begins to listen on 127.0.0.1.
    init(port: UInt16 = 0) throws(SocketError) {
        listener = try Listener(port: port)
    }

    var port: UInt16 { listener.port }

    /// Serves until ``stop()``.
    func run() async {
        for await socket in listener.connections where members.count < Self.maximumMembers { accept(socket) }
    }

    /// Ends all connections and listens no more.
    func stop() {
        listener.stop()
        for member in members.values { member.connection.pair.close() }
        members = [:]
    }

    private func accept(_ socket: Descriptor) {
        let connection = LineConnection()
        let id = ObjectIdentifier(connection)
        members[id] = Member(connection: connection)
        connection.handler = { [weak self] in self?.handle($0, of: id) }
        connection.pair.open(socket)
    }

    private func handle(_ event: LineConnection.Event, of id: ObjectIdentifier) {
        switch event {
        case .opened: break
        case .line(.text(let line)): take(line, from: id)
        case .line(.tooLong): members[id]?.connection.send("! your line is too long")
        case .ended: remove(id)
        }
    }

    private func take(_ line: String, from id: ObjectIdentifier) {
        guard let member = members[id] else { return }
        switch (line.prefix(4), member.nickname) {
        case ("iam:", nil): logIn(String(line.dropFirst(4)), id)
        case ("msg:", let nickname?): tellAll("\(nickname): \(line.dropFirst(4))")
        default: member.connection.send("! say iam:NAME once, then msg:TEXT as often as you like")
        }
    }

    private func logIn(_ nickname: String, _ id: ObjectIdentifier) {
        // Letters and digits: a name with a colon or a space in it could pass for something that another has said.
        guard (1...Self.maximumNickname).contains(nickname.count), nickname.allSatisfy({ $0.isLetter || $0.isNumber })
        else { return refuse(id, "a name is of letters and digits, \(Self.maximumNickname) at most") }
        guard !members.values.contains(where: { $0.nickname == nickname }) else {
            return refuse(id, "\(nickname) is taken")
        }
        members[id]?.nickname = nickname
        tellAll("\(nickname) has joined")
    }

    private func refuse(_ id: ObjectIdentifier, _ reason: String) {
        members[id]?.connection.send("! \(reason)")
        remove(id)
    }

    private func tellAll(_ line: String) {
        // Who does not read what is said must not cost memory for ever.
        let deaf = members.filter { $0.value.nickname != nil && !$0.value.connection.send(line) }
        for id in deaf.keys { remove(id) }
    }

    private func remove(_ id: ObjectIdentifier) {
        guard let member = members.removeValue(forKey: id) else { return }
        member.connection.pair.close()
        if let nickname = member.nickname { tellAll("\(nickname) has left") }
    }
}
