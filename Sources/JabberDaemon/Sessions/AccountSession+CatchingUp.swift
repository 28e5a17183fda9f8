// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP
internal import XMPPStorage

extension AccountSession {
    /// How many messages of the archive are taken in at the beginning of a session; 5,000. The rest is there to be asked for.
    static let maximumCaughtUp = 5_000
    /// How many are asked for at once.
    private static let pageSize = 100

    /// Takes in what the archive of the account has got since the last session (XEP-0313): messages that were sent while nobody was
    /// here and that no other way brings, in order, and none twice (XEP-0359). Where nothing is known that the archive has,
    /// there is nothing to begin after.
    ///
    /// An archive that fails is passed over, and said to be: the session is of use without it.
    ///
    /// - Throws: `ControlError` when the connection or the store fails.
    func catchUp(on stream: XMPPStream) async throws(ControlError) {
        guard let store else { return }
        do {
            guard let last = try await store.archive.lastArchiveID(by: jid, of: jid),
                await hasArchive(stream)
            else { return }
            var place = ResultSetRequest.Position.after(last)
            var seen: Set<String> = [last]
            var rest = Self.maximumCaughtUp
            while rest > 0 {
                let page = try await stream.archivePage(
                    page: ResultSetRequest(maximum: min(rest, Self.pageSize), place))
                try await take(page.results, into: store)
                rest -= max(1, page.results.count)
                guard !page.isComplete, let end = page.place.last, seen.insert(end).inserted else { return }
                place = .after(end)
            }
            say(
                "more than \(Self.maximumCaughtUp) messages are in the archive; ask for them: jabberctl history JID --remote"
            )
        } catch let error as StorageError {
            throw ControlError(error, account: name)
        } catch let error as XMPPError {
            guard await stream.isEstablished else { throw ControlError(error, account: name) }
            say("the archive does not say what was missed: \(error.message)")
        } catch {
            throw ControlError(.inputOutput, "\(error)", account: name)
        }
    }

    private func hasArchive(_ stream: XMPPStream) async -> Bool {
        let information = try? await stream.discoverInformation(of: jid)
        return information?.features.contains(ArchiveFilter.namespace) == true
    }

    private func take(_ results: [ArchiveResult], into store: AccountStore) async throws(StorageError) {
        let records = results.compactMap { result -> Intake.Record? in
            let chat = ChatMessage(result.message, account: jid, source: .archive)
            guard chat.message.kind != .groupchat, let entry = ArchivedMessage(archived: result, chat, by: jid) else {
                return nil
            }
            let events = MessageDocument.documents(chat, self).filter { $0.string("type") == "message" }
            return Intake.Record(
                events: events.map { event in
                    var event = event
                    event["at"] = .string(entry.at.description)
                    event["stanzaId"] = ["by": .string(jid.description), "id": .string(result.id)]
                    return event
                }, messages: [entry])
        }
        try await store.take(records)
    }
}
