// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
package import XMPPCore
internal import XMPPXML

/// How the reading of an archive has ended.
package enum ArchiveReading: Sendable, Hashable {
    /// All that was behind the place is read.
    case complete
    /// There is more than may be taken in.
    case cutShort
    /// There is no archive.
    case noArchive
}

extension XMPPStream {
    /// How many messages of an archive that are new are taken in at the beginning of a session; 5,000. The rest is
    /// there to be asked for.
    package static let maximumCaughtUp = 5_000
    /// How many pages of an archive are looked at for them; 500. Most of what is there may be known.
    private static let maximumCatchUpPages = 500
    /// How much earlier an archive is read from than at a time that is known by this machine's clock alone; 1 minute,
    /// in milliseconds.
    private static let entryMargin: Int64 = 60_000
    /// How long an archive may take to say where it ends; 5 s.
    private static let endTimeout: Duration = .seconds(5)
    /// How many messages are asked for at once.
    private static let catchUpPage = 100

    /// Reads what has come into an archive since it was known last, oldest first.
    ///
    /// Where no message is known, but a time, it is read from about that time on. An archive that has forgotten the
    /// message that is known is read from about the time of that message on.
    ///
    /// - Parameters:
    ///   - archive: Whose: a room, or `nil` for the own account.
    ///   - place: Up to where it is known.
    ///   - take: Takes a page, and returns how many messages in it were new.
    /// - Throws: ``XMPPError`` as ``archivePage(_:of:page:timeout:)``, and with ``XMPPError/Code/protocolViolation``
    ///   for an archive that goes in circles; or what taking throws.
    package func catchUp(
        with archive: JID? = nil, from place: ArchivePlace, _ take: @Sendable ([ArchiveResult]) async throws -> Int
    ) async throws -> ArchiveReading {
        var filter = ArchiveFilter(since: place.last == nil ? place.at.map { $0.earlier(by: Self.entryMargin) } : nil)
        var position = place.last.map(ResultSetRequest.Position.after) ?? .start
        var ends = Set([place.last].compactMap { $0 })
        var rest = Self.maximumCaughtUp
        for _ in 0..<Self.maximumCatchUpPages where rest > 0 {
            let page: ArchivePage
            do throws(XMPPError) {
                page = try await archivePage(
                    filter, of: archive, page: ResultSetRequest(maximum: min(rest, Self.catchUpPage), position))
            } catch {
                switch error.stanzaError?.condition {
                case .serviceUnavailable?, .featureNotImplemented?: return .noArchive
                // XEP-0059 §2.2: the item that the page was to begin behind is gone.
                case .itemNotFound? where filter.since == nil && place.at != nil:
                    filter.since = place.at?.earlier(by: Self.assumedClockError)
                    position = .start
                    continue
                default: throw error
                }
            }
            rest -= try await take(page.results)
            guard !page.isComplete, let end = page.place.last else { return .complete }
            guard ends.insert(end).inserted else {
                throw XMPPError(.protocolViolation, "The archive goes in circles: a page ends where another did.")
            }
            position = .after(end)
        }
        return .cutShort
    }

    /// Where the account's archive ends; `nil` where there is none, or it does not say so in time. What is behind the
    /// place is what a later session has missed.
    ///
    /// To be asked when everybody knows that the user is there: Prosody hands out nothing of what it has kept for who
    /// was offline once the archive was asked. What has come on this connection by then may be what the archive ends
    /// with, and counts nowhere yet: then there is only a time.
    package func archiveEnd() async -> ArchivePlace? {
        guard let page = try? await archivePage(page: ResultSetRequest(maximum: 1, .end), timeout: Self.endTimeout)
        else { return nil }
        let last = page.results.last
        return ArchivePlace(last: hasHeardMessages ? nil : last?.id ?? page.place.last, at: last?.at)
    }

    // MARK: What a client takes in

    /// Takes in what the account's archive has got since the session before.
    ///
    /// An archive that fails is passed over: the session is of use without it.
    ///
    /// - Throws: ``XMPPError`` when the session ends meanwhile.
    func catchUp() async throws(XMPPError) {
        guard let archives, let place = archives.place else { return }
        do {
            let end = try await catchUp(from: place) { [weak self] results in await self?.take(caughtUp: results) ?? 0 }
            guard end == .cutShort else { return }
            log(
                .step,
                "more than \(Self.maximumCaughtUp) messages are in the archive: the rest is there to be asked for")
        } catch {
            guard isEstablished else { throw disconnection ?? .notConnected }
            log(.step, "the archive does not say what was missed: \(error)")
        }
    }

    /// Takes in what was said in the rooms that the user was in, where their archives tell (XEP-0313 §6.2). To be done
    /// before they are entered again.
    ///
    /// - Throws: ``XMPPError`` when the session ends meanwhile.
    func catchUpRooms() async throws(XMPPError) {
        for room in rooms.wanted where !room.isEntered(on: self) {
            guard let place = room.archivePlace else { continue }
            let before = configuration.clock.now
            do {
                let end = try await catchUp(with: room.jid, from: place) { [weak self] results in
                    await self?.take(caughtUp: results, in: room) ?? 0
                }
                // What comes with the entrance is newer.
                if end == .complete { room.update { $0.hasHeard(upTo: before) } }
            } catch {
                guard isEstablished else { throw disconnection ?? .notConnected }
                log(.step, "the archive of \(room.jid) does not say what was missed: \(error)")
            }
        }
    }

    /// Reports what is new of a page of the account's archive.
    ///
    /// - Returns: How many messages were.
    private func take(caughtUp results: [ArchiveResult]) -> Int {
        guard let archives else { return 0 }
        var count = 0
        for result in results where archives.tells(result.id) {
            let message = named(result, by: account.bare)
            let known = deliveries.count
            report(archived: message, from: result)
            let isReported = deliveries.count > known
            if isReported { count += 1 }
            took(message.element, isReported: isReported)
        }
        endTurn()
        return count
    }

    /// A message of the archive as it would have come: with the name that the archive has given it, and with its time.
    private func named(_ result: ArchiveResult, by archive: JID) -> Message {
        var message = result.message
        message.from = message.from ?? archive
        message.withElement { $0.removeChildren { StanzaID($0)?.by == archive } }
        message.append(StanzaID(result.id, by: archive).element)
        if message.delay == nil, let at = result.at {
            message.append(DelayedDelivery(stamp: at, from: archive).element)
        }
        return message
    }

    private func report(archived message: Message, from result: ArchiveResult) {
        // What is said in rooms is theirs to tell, and what came back is of a session that is gone.
        guard message.kind != .groupchat, message.kind != .error, let from = message.from else { return }
        let delay = result.at.map { DelayedDelivery(stamp: $0, from: account.bare) }
        if from.bare == account.bare {
            guard configuration.usesCarbons, let id = message.id, let to = message.to,
                !sentMessages.wasSent(id: id, to: to)
            else { return }
            sentMessages.sent(id: id, to: to)
            return report(.carbon(MessageCarbon(.sent, message, delay: delay)))
        }
        guard message.to?.isBound(for: configuration.jid) ?? true || message.to?.isBare == true else {
            // It was for another client of the account alone.
            if configuration.usesCarbons { report(.carbon(MessageCarbon(.received, message, delay: delay))) }
            return
        }
        route(toldNow: message)
    }

    /// Reports what is new of a page of a room's archive.
    private func take(caughtUp results: [ArchiveResult], in room: Room) -> Int {
        var count = 0
        for result in results where result.message.kind == .groupchat && result.message.from?.bare == room.jid {
            let message = named(result, by: room.jid)
            guard let event = room.update({ $0.caughtUp(message, at: result.at) }) else { continue }
            count += 1
            report(.room(room, event))
            took(message.element, isReported: true)
        }
        endTurn()
        return count
    }
}

extension DateTime {
    /// So many milliseconds earlier.
    fileprivate func earlier(by milliseconds: Int64) -> DateTime {
        DateTime(millisecondsSinceEpoch: millisecondsSinceEpoch - milliseconds)
    }
}
