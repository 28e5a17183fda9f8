// SPDX-License-Identifier: Apache-2.0

import ExampleSupport
import XMPP

/// Shows a room: who comes and goes, what is said, and which of the user's own lines the room has.
@MainActor
final class RoomView: RoomDelegate, ChatDelegate, MessageDelegate {
    /// Lines that may wait for the room to have them.
    static let maximumPending = 100

    /// A line of the user's that the room has not sent back yet.
    private struct Line {
        let id: String
        let text: String
        var isSent = false
    }

    private let screen: Screen
    private var pending: [Line] = []

    init(screen: Screen) {
        self.screen = screen
    }

    /// Says something, now or when the connection is back. It is shown with “…” until the room sends it back.
    func say(_ text: String, in room: Room) async {
        guard pending.count < Self.maximumPending else { return screen.show("! too much waits: \(text.printableBody)") }
        // An id of our own: the room's copy may be here before the call that sends has returned.
        pending.append(Line(id: "groupchat-\(UInt64.random(in: 0...UInt64.max))", text: text))
        screen.show("Me: \(text.printableBody) …")
        await sendPending(in: room)
    }

    private func sendPending(in room: Room) async {
        while let index = pending.firstIndex(where: { !$0.isSent }) {
            pending[index].isSent = true
            let line = pending[index]
            do {
                try await room.send(Message(to: room.jid, kind: .groupchat, body: line.text, id: line.id))
            } catch  where error.code == .notConnected {
                // It is sent when the user is in the room again.
                if let index = pending.firstIndex(where: { $0.id == line.id }) { pending[index].isSent = false }
                return
            } catch {
                fail(line.id, "\(error)")
            }
        }
    }

    private func fail(_ id: String?, _ reason: String) {
        guard let index = pending.firstIndex(where: { $0.id == id }) else { return }
        screen.show("! not said: \(pending.remove(at: index).text.printableBody) (\(reason.printable(limit: 400)))")
    }

    // MARK: RoomDelegate

    func room(_ room: Room, didReceive message: RoomMessage) async {
        guard let body = message.message.body else { return }
        guard message.isOwn else { return screen.show("\(message.nickname.shown): \(body.printableBody)") }
        // What was said in an earlier run, or by another client of the user's, was not waited for.
        pending.removeAll { $0.id == message.message.id }
        screen.show("Me: \(body.printableBody) ✓")
    }

    func room(_ room: Room, didReport event: RoomEvent) async {
        let connected = "(\(room.occupants.count) connected)"
        switch event {
        case .joined(let me):
            screen.show("You are \(me.nickname.printable(limit: 40)) \(connected)")
            await sendPending(in: room)
        case .occupantJoined(let occupant):
            screen.show("\(occupant.nickname.printable(limit: 40)) just joined \(connected)")
        case .occupantLeft(let occupant, _):
            screen.show("\(occupant.nickname.printable(limit: 40)) left \(connected)")
        case .nicknameChanged(let old, let occupant):
            screen.show("\(old.printable(limit: 40)) is \(occupant.nickname.printable(limit: 40)) now")
        case .refused(let error):
            screen.show("! the room refuses: \(error.description.printable(limit: 400))")
        case .left(let departure) where departure.cause != .left && departure.cause != .disconnected:
            screen.show("! out of the room: \(departure.cause.rawValue) \(departure.reason?.printable() ?? "")")
        case .subject(let subject?, _):
            screen.show("* \(subject.printable())")
        case .occupantChanged, .subject, .message, .configurationChanged, .left:
            break
        }
    }

    // MARK: MessageDelegate

    func stream(_ stream: XMPPStream, didBounce message: Message, error: StanzaError) async {
        fail(message.id, error.description)
    }

    // MARK: ChatDelegate

    func stream(_ stream: XMPPStream, didAuthenticateAs jid: JID) async {
        let endpoint = await stream.endpoint ?? "the server"
        let version = await stream.security?.version ?? "no TLS"
        screen.show("Online at \(endpoint.printable()), \(version)")
    }

    func streamWasInterrupted(_ stream: XMPPStream, error: XMPPError) async {
        screen.show("! connection lost, trying again: \("\(error)".printable(limit: 400))")
    }

    func streamDidResume(_ stream: XMPPStream) async {
        screen.show("Back again.")
    }

    func streamDidDisconnect(_ stream: XMPPStream, error: XMPPError?) async {
        guard let error else { return screen.show("Offline.") }
        let prospect = error.isPermanent ? "given up" : "trying again"
        screen.show("! offline, \(prospect): \("\(error)".printable(limit: 400))")
    }
}

extension String? {
    /// A nickname, printable.
    fileprivate var shown: String { self?.printable(limit: 40) ?? "the room" }
}

extension String {
    /// A body, printable. Its later lines stand back from the edge, where names are: none can pass for another's.
    fileprivate var printableBody: String { printable(limit: 4_000, lineBreak: "\n    ") }
}
