// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPPCore
internal import XMPPProtocol

/// Notes in an outbox what addressees, rooms and servers say of its messages.
final class OutboxMarks: MessageDelegate, RoomDelegate {
    private let outbox: any Outbox
    private let account: JID
    /// Called when the user has come into a room: what waits for it can go.
    let entered = Locked<(@Sendable () -> Void)?>(nil)

    init(_ outbox: any Outbox, of account: JID) {
        self.outbox = outbox
        self.account = account.bare
    }

    func stream(_ stream: XMPPStream, didReceiveReceiptFor messageID: String, from jid: JID) async {
        await note(.device, messageID, from: jid, on: stream)
    }

    func stream(_ stream: XMPPStream, didDisplayUpTo messageID: String, from jid: JID) async {
        await note(.read, messageID, from: jid, on: stream)
    }

    func stream(_ stream: XMPPStream, didBounce message: Message, error: StanzaError) async {
        guard let id = message.id, let from = message.from else { return }
        await note(.failed, id, from: from, because: "\(error)", on: stream)
    }

    func room(_ room: Room, didReceive message: RoomMessage) async {
        guard message.isOwn, let id = message.message.originID ?? message.message.id else { return }
        await note(.server, id, from: room.jid, on: try? room.stream())
    }

    func room(_ room: Room, didReport event: RoomEvent) async {
        if case .joined = event { entered.withLock { $0 }?() }
    }

    private func note(
        _ state: DeliveryState, _ id: String, from sender: JID, because reason: String? = nil, on stream: XMPPStream?
    ) async {
        do {
            for entry in try await outbox.entries(id, of: account) {
                guard let key = entry.key, key.isAnswered(by: sender, asError: state == .failed) else { continue }
                // A reflection comes from rooms alone.
                guard state != .server || entry.isForRoom else { continue }
                try await outbox.note(state, of: id, to: key.recipient, of: account, because: reason)
            }
        } catch {
            let text = "the outbox does not note that a message is \(state.rawValue): \(error)"
            stream?.configuration.log?(StreamLogEntry(.step, text))
        }
    }
}
