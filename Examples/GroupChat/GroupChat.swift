// SPDX-License-Identifier: Apache-2.0

import ExampleSupport
import XMPP

/// Takes somebody into a room and keeps them there: asks for a name, says what is typed, and comes back when the server
/// does.
@MainActor
final class GroupChat {
    private let address: JID
    private let client: XMPPClient
    private let screen: Screen
    private let view: RoomView

    init(_ address: JID, _ configuration: XMPPConfiguration, reconnect: ReconnectPolicy, screen: Screen) {
        self.address = address
        self.screen = screen
        client = XMPPClient(configuration, reconnect: reconnect)
        view = RoomView(screen: screen)
        // Delegates are held weakly: this object is what keeps the view.
        client.add(chatDelegate: view)
        client.add(messageDelegate: view)
        client.add(roomDelegate: view)
    }

    /// Chats until `/quit` or the end of the input, and leaves properly.
    ///
    /// - Throws: ``XMPPError`` when the server or the room does not want the user, or cannot be trusted.
    func run(typed lines: AsyncStream<String>) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.chat(lines) }
            // Connects again and again; ends by itself only when that cannot help, such as after a wrong password.
            group.addTask { try await self.client.run() }
            // Whichever comes first ends the other.
            defer { group.cancelAll() }
            try await group.next()
        }
        await client.stop()
    }

    private func chat(_ lines: AsyncStream<String>) async throws {
        screen.show("What is your name?")
        var typed = lines.makeAsyncIterator()
        guard let name = await typed.next(isolation: MainActor.shared) else { return }
        let room = try await enter(as: name)
        while let line = await typed.next(isolation: MainActor.shared), line != "/quit" {
            switch line {
            case "": continue
            case "/who": screen.show(room.occupants.map { $0.nickname.printable(limit: 40) }.joined(separator: ", "))
            default: await view.say(line, in: room)
            }
        }
        try? await room.leave()
    }

    /// Enters once. From then on the client does so by itself in each new session.
    private func enter(as name: String) async throws -> Room {
        while true {
            do throws(XMPPError) {
                try await client.start()
                guard let stream = await client.stream else { continue }
                return try await stream.join(address, as: name)
            } catch {
                // What trying again can mend is tried again, and the view has said so.
                guard error.isTransient else { throw error }
            }
        }
    }
}

extension XMPPError {
    /// Whether only the connection was at fault: not the user, and not the room.
    fileprivate var isTransient: Bool {
        !isPermanent && code != .stanzaError && code != .invalidStanza && code != .cancelled
    }
}
