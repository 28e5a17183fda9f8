// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import SocketIO

/// `chat`: talks to a contact or in a room, at a terminal.
enum ChatCommand {
    static func run(_ context: CommandContext, _ command: CommandSpec) async throws(ControlError) -> ExitCode {
        guard let peer = context.line.arguments.first else { throw ControlError(.usage, "say with whom") }
        try ShallowAddress.refuseBareWord(peer)
        if try context.showRequest("listen", Chat.listening(to: peer, isRoom: context.line.has("room"), nil)) {
            return .done
        }
        let environment = context.environment
        guard environment.isInputTerminal, environment.isOutputTerminal else {
            throw ControlError(.usage, "chat needs a terminal; in a script: jabberctl send --line, jabberctl listen")
        }
        let editor = try environment.makeLineEditor()
        return try await DaemonSession.run(context, limit: context.options.timeout) { session throws(ControlError) in
            let isRoom = try await isRoom(peer, context, session)
            let chat = Chat(with: peer, isRoom: isRoom, context, session, editor)
            try await chat.run()
            return .done
        }
    }

    /// Whether an address is that of a room: it says so itself. Logs in, and asks for a password where one is needed.
    private static func isRoom(
        _ peer: String, _ context: CommandContext, _ session: DaemonSession
    ) async throws(ControlError) -> Bool {
        if context.line.has("room") { return true }
        guard let at = peer.unicodeScalars.firstIndex(of: "@"), !peer.unicodeScalars.contains("/") else {
            _ = try await session.call("presence.show", [:])
            return false
        }
        if let isRoom = try await isConference(peer, session) { return isRoom }
        // A room that is not there yet is made when somebody comes in: its service is known by what it is.
        return try await isConference(String(peer[peer.unicodeScalars.index(after: at)...]), session) ?? false
    }

    /// Whether an address says that it is for conferences; `nil` when it says nothing.
    private static func isConference(
        _ address: String, _ session: DaemonSession
    ) async throws(ControlError) -> Bool? {
        do throws(ControlError) {
            let result = try CommandContext.object(try await session.call("disco", ["jid": .string(address)]))
            return result["identities"]?.arrayValue?.contains { $0["category"] == "conference" }
        } catch {
            // A contact whose server says nothing of it is one all the same.
            guard error.exit == .refused || error.code == .timedOut else { throw error }
            return nil
        }
    }
}
