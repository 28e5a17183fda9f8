// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP
internal import XMPPStorage

extension AccountSession {
    /// How many messages of the archive are taken in at the beginning of a session; 5,000. The rest is there to be
    /// asked for.
    static let maximumCaughtUp = 5_000
    /// How many are asked for at once.
    private static let pageSize = 100

    /// Takes in what the archive of the account has got since the last session (XEP-0313): messages that were sent
    /// while nobody was here and that no other way brings, in order, and none twice (XEP-0359). Where nothing is known
    /// that the archive has, there is nothing to begin after.
    ///
    /// An archive that fails is passed over, and said to be: the session is of use without it.
    ///
    /// - Throws: `ControlError` when the connection or the store fails.
    func catchUp(on stream: XMPPStream) async throws(ControlError) {
        try await catchUp(jid, on: stream) { result, chat in
            chat.message.kind != .groupchat
                ? ArchivedMessage(archived: result, chat, by: self.jid).map { ($0, nil) } : nil
        }
    }

    /// Takes in what was said meanwhile in the rooms that the user was in, where their archives tell (XEP-0313 §6.2).
    /// To be done before they are entered again: what a room tells then of its past is known already, and what comes is
    /// newer.
    ///
    /// - Throws: `ControlError` as ``catchUp(on:)``.
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
        _ entry: @Sendable (ArchiveResult, ChatMessage) -> (message: ArchivedMessage, nickname: String?)?
    ) async throws(ControlError) {
        guard let store else { return }
        let isRoom = archive != jid
        do {
            guard let last = try await store.archive.lastArchiveID(by: archive, of: jid),
                await hasArchive(archive, stream)
            else { return }
            var place = ResultSetRequest.Position.after(last)
            var seen: Set<String> = [last]
            var rest = Self.maximumCaughtUp
            while rest > 0 {
                let page = try await stream.archivePage(
                    of: isRoom ? archive : nil, page: ResultSetRequest(maximum: min(rest, Self.pageSize), place))
                try await take(page.results, of: archive, into: store, entry)
                rest -= max(1, page.results.count)
                guard !page.isComplete, let end = page.place.last, seen.insert(end).inserted else { return }
                place = .after(end)
            }
            say(
                "more than \(Self.maximumCaughtUp) messages are in the archive; ask for them: "
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

    private func hasArchive(_ archive: JID, _ stream: XMPPStream) async -> Bool {
        let information = try? await stream.discoverInformation(of: archive)
        return information?.features.contains(ArchiveFilter.namespace) == true
    }

    private func take(
        _ results: [ArchiveResult], of archive: JID, into store: AccountStore,
        _ entry: (ArchiveResult, ChatMessage) -> (message: ArchivedMessage, nickname: String?)?
    ) async throws(StorageError) {
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
        try await store.take(records)
    }
}
