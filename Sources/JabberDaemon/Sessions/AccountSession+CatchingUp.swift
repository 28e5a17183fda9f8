// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP
internal import XMPPStorage

extension AccountSession {
    /// Takes in what the archive of the account has got since the last session (XEP-0313): messages that were sent
    /// while nobody was here and that no other way brings, in order, and none twice (XEP-0359). Where nothing is known
    /// that the archive has, there is nothing to begin after; then it is noted where the archive ends, for the next
    /// session of this process: the first message of all may be one that is missed.
    ///
    /// An archive that fails is passed over, and said to be: the session is of use without it.
    ///
    /// - Parameter isPresent: Whether everybody knows that the user is there: before, what the server has kept for who
    ///   was offline is still to come.
    /// - Throws: `ControlError` when the connection or the store fails.
    func catchUp(on stream: XMPPStream, isPresent: Bool) async throws(ControlError) {
        if isPresent, let store, archiveEnd == nil {
            let known: (name: ArchivedMessage.Name, at: DateTime)?
            do throws(StorageError) {
                known = try await store.archive.lastNamed(by: jid, of: jid)
            } catch {
                throw ControlError(error, account: name)
            }
            if known == nil {
                archiveEnd = await stream.archiveEnd()
                return
            }
        }
        try await catchUp(jid, on: stream) { result, chat in
            chat.message.kind != .groupchat
                ? ArchivedMessage(archived: result, chat, by: self.jid).map { ($0, nil) } : nil
        }
    }

    /// Takes in what was said meanwhile in the rooms that the user was in, where their archives tell (XEP-0313 §6.2).
    /// To be done before they are entered again: what a room tells then of its past is known already, and what comes is
    /// newer.
    ///
    /// - Throws: `ControlError` as ``catchUp(on:isPresent:)``.
    func catchUpRooms(on stream: XMPPStream) async throws(ControlError) {
        for room in rooms.wanted {
            try await catchUp(room.jid, on: stream) { result, chat in
                guard chat.message.kind == .groupchat, chat.message.from?.bare == room.jid,
                    var entry = ArchivedMessage(archived: result, chat, by: room.jid)
                else { return nil }
                entry.isOutgoing = room.isOwn(chat.message)
                if entry.isOutgoing { entry.isUnread = false }
                return (entry, chat.message.from?.resourcepart ?? "")
            }
        }
    }

    /// Reads an archive from what is known of it on.
    ///
    /// - Parameter entry: What is to be kept of a message, and who said it where that is a room; `nil` for nothing.
    private func catchUp(
        _ archive: JID, on stream: XMPPStream,
        _ entry: @escaping @Sendable (ArchiveResult, ChatMessage) -> (message: ArchivedMessage, nickname: String?)?
    ) async throws(ControlError) {
        guard let store else { return }
        let isRoom = archive != jid
        do {
            let last = try await store.archive.lastNamed(by: archive, of: jid)
            let known = last.map { ArchivePlace(last: $0.name.id, at: $0.at) }
            guard let place = known ?? (isRoom ? nil : archiveEnd) else { return }
            let end = try await stream.catchUp(with: isRoom ? archive : nil, from: place) { results in
                try await self.take(results, of: archive, into: store, entry)
            }
            guard end == .cutShort else { return }
            say(
                "more than \(XMPPStream.maximumCaughtUp) messages are in the archive; ask for them: "
                    + "jabberctl history \(isRoom ? archive.description : "JID") --remote")
        } catch let error as StorageError {
            throw ControlError(error, account: name)
        } catch let error as XMPPError {
            guard await stream.isEstablished else { throw ControlError(error, account: name) }
            say("the archive\(isRoom ? " of \(archive)" : "") does not say what was missed: \(error.message)")
        } catch {
            throw ControlError(.inputOutput, "\(error)", account: name)
        }
    }

    /// - Returns: How many of the messages are new.
    private func take(
        _ results: [ArchiveResult], of archive: JID, into store: AccountStore,
        _ entry: (ArchiveResult, ChatMessage) -> (message: ArchivedMessage, nickname: String?)?
    ) async throws(StorageError) -> Int {
        let records = results.compactMap { result -> Intake.Record? in
            let chat = ChatMessage(result.message, account: jid, source: .archive)
            guard let (message, nickname) = entry(result, chat) else { return nil }
            let events = MessageDocument.documents(chat, self).filter { $0.string("type") == "message" }
            return Intake.Record(
                events: events.map { event in
                    var event = event
                    event["at"] = .string(message.at.description)
                    event["stanzaId"] = ["by": .string(archive.description), "id": .string(result.id)]
                    if let nickname {
                        event["room"] = .string(archive.description)
                        event["nick"] = .string(nickname)
                        event["direction"] = message.isOutgoing ? "out" : "in"
                    }
                    return event
                }, messages: [message])
        }
        return try await store.take(records)
    }
}
