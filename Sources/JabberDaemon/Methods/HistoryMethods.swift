// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP
internal import XMPPStorage

/// `history`, `unread`, `read`: what was said.
enum HistoryMethods {
    /// How many bytes of messages one answer holds at most, about; 768 KiB. It has to fit into a line.
    static let maximumBytes = 768 << 10

    static func history(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let parameters = call.parameters
        let jid = try parameters.requiredJID("jid")
        var query = ArchiveQuery(peer: jid)
        query.since = try parameters.time("since")
        query.before = try parameters.time("before")
        query.text = try parameters.string("search")
        query.limit = try parameters.whole("limit", in: 1...MessageArchive.maximumResults) ?? 50
        let isRemote = try parameters.flag("remote")
        guard !isRemote || query.text == nil else {
            throw parameters.wrong("search", "is for what is kept here: servers are not asked for words")
        }
        let session = try await call.session
        let found: [JSONObject]
        let isWhole: Bool
        if isRemote {
            (found, isWhole) = try await remote(query, jid, call, session)
        } else {
            let store = try await session.keptStore()
            do throws(StorageError) {
                let kept = try await store.archive.messages(query, of: session.jid)
                found = kept.compactMap { document($0, session) }
                isWhole = kept.count < query.limit
            } catch {
                throw ControlError(error, account: session.name)
            }
        }
        var result = session.heading
        result["jid"] = .string(jid.bare.description)
        let shown = fitting(found)
        result["messages"] = .array(shown.map(JSONValue.object))
        result["complete"] = .bool(shown.count == found.count && isWhole)
        return result
    }

    /// The newest that fit, oldest first.
    private static func fitting(_ messages: [JSONObject]) -> [JSONObject] {
        var rest = maximumBytes
        let newest = messages.reversed().prefix { message in
            rest -= JSONValue.object(message).text.utf8.count + 1
            return rest >= 0
        }
        return newest.reversed()
    }

    /// Asks the archive of the account, or that of a room (XEP-0313).
    ///
    /// - Returns: What is a message, and whether the archive has no more that was asked for: a page may hold less than
    ///   was asked for, and stanzas that are none.
    private static func remote(
        _ query: ArchiveQuery, _ jid: JID, _ call: MethodCall, _ session: AccountSession
    ) async throws(ControlError) -> (messages: [JSONObject], isWhole: Bool) {
        let stream = try await session.established()
        let isRoom: Bool
        if await stream.joinedRooms.contains(where: { $0.jid == jid.bare }) {
            isRoom = true
        } else {
            isRoom = try call.parameters.flag("room")
        }
        let archive = isRoom ? jid.bare : nil
        let filter = ArchiveFilter(with: isRoom ? nil : jid, since: query.since, until: query.before)
        let page: ArchivePage
        do throws(ControlError) {
            page = try await session.step { () throws(XMPPError) in
                try await stream.archivePage(
                    filter, of: archive, page: ResultSetRequest(maximum: min(query.limit, 500), .end))
            }
        } catch {
            let remedy = "without --remote what a daemon that stays has kept here is shown"
            throw archive.map { Refusal.ofRoom(error, $0, "keep an archive (XEP-0313)", remedy) }
                ?? Refusal.ofServer(error, session.jid.domain, "archives of messages (XEP-0313)", remedy)
        }
        let messages = page.results.compactMap { result -> JSONObject? in
            let chat = ChatMessage(result.message, account: session.jid, source: .archive)
            guard let message = ArchivedMessage(archived: result, chat, by: archive ?? session.jid) else { return nil }
            return document(message, session)
        }
        return (messages, page.isComplete)
    }

    /// A message as history shows it; `nil` for one that is about another, such as a retraction that an archive holds.
    private static func document(_ entry: ArchivedMessage, _ session: AccountSession) -> JSONObject? {
        let chat = ChatMessage(entry.message, account: session.jid, source: .archive)
        let documents = MessageDocument.documents(chat, session)
        guard var document = documents.first(where: { $0.string("type") == "message" }) else { return nil }
        for key in ["api", "account", "type", "source", "stanzaId"] { document[key] = nil }
        document["at"] = .string(entry.at.description)
        document["direction"] = entry.isOutgoing ? "out" : "in"
        if let name = entry.archiveID {
            document["stanzaId"] = ["by": .string(name.by.description), "id": .string(name.id)]
        }
        if entry.isUnread { document["unread"] = true }
        return document
    }

    static func unread(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let session = try await call.session
        let store = try await session.keptStore()
        do throws(StorageError) {
            let counts = try await store.archive.unread(of: session.jid)
            var result = session.heading
            result["conversations"] = .array(
                counts.prefix(MethodTable.maximumConversations).map { conversation in
                    ["jid": .string(conversation.peer.description), "count": .integer(Int64(conversation.count))]
                })
            result["total"] = .integer(Int64(counts.reduce(0) { $0 + $1.count }))
            return result
        } catch {
            throw ControlError(error, account: session.name)
        }
    }

    static func read(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let jid = try call.parameters.requiredJID("jid")
        let last = try call.parameters.string("upTo")
        let tells = try call.parameters.flag("marker")
        let session = try await call.session
        let store = try await session.keptStore()
        // Before anything is marked: without a connection nobody can be told, and then nothing has happened.
        let stream = tells ? try await session.established() : nil
        let marked: [ArchivedMessage]?
        do throws(StorageError) {
            marked = try await store.archive.markRead(jid, upTo: last, of: session.jid)
        } catch {
            throw ControlError(error, account: session.name)
        }
        guard let marked else {
            throw ControlError(
                .notFound, "no message of \(jid.bare) has the id \"\(last ?? "")\"", account: session.name)
        }
        var result = session.heading
        result["jid"] = .string(jid.bare.description)
        result["marked"] = .integer(Int64(marked.count))
        guard let stream, let newest = marked.last(where: { $0.message.isMarkable })?.message else { return result }
        let isSent = try await session.step { () throws(XMPPError) in try await stream.sendDisplayed(newest) }
        if isSent, let id = newest.id { result["marker"] = .string(id) }
        return result
    }
}

extension Parameters {
    /// A moment; `nil` when absent.
    func time(_ key: String) throws(ControlError) -> DateTime? {
        guard let text = try string(key) else { return nil }
        guard let time = DateTime(text) else { throw wrong(key, "must be a time such as 2026-01-02T03:04:05Z") }
        return time
    }
}

extension ArchivedMessage {
    /// A message from an archive of the server; `nil` for one with nothing to read.
    ///
    /// - Parameter archive: Whose archive it is: the own account's, or a room's.
    init?(archived result: ArchiveResult, _ chat: ChatMessage, by archive: JID) {
        self.init(chat, keeper: archive, isUnread: true, at: result.at)
        archiveID = Name(by: archive.bare, id: result.id)
    }
}
