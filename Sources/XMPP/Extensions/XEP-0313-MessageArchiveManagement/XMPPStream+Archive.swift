// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
internal import XMPPCrypto
internal import XMPPProtocol
internal import XMPPXML

/// What an archive has answered so far to a question that is open.
struct ArchiveCollector: Sendable {
    /// Whose archive was asked; `nil` for the own account's.
    let archive: JID?
    /// The id of the request.
    let requestID: String
    /// How many results were asked for.
    let maximum: Int
    /// What came.
    private(set) var results: [ArchiveResult] = []
    /// About how many bytes that takes.
    private var bytes = 0
    /// Why not all is there that came, as a sentence; `nil` where it is.
    private(set) var excess: String?
    /// Whether the answer has come, after which nothing belongs to it any more.
    var isClosed = false

    init(archive: JID?, requestID: String, maximum: Int) {
        self.archive = archive
        self.requestID = requestID
        self.maximum = maximum
    }

    /// Takes what came, where there is room for it.
    ///
    /// - Parameter bytes: About how many bytes of memory it takes.
    mutating func add(_ result: ArchiveResult, bytes: Int) {
        guard excess == nil else { return }
        guard results.count < maximum else {
            excess = "The archive sent more than the \(maximum) messages that were asked for."
            return
        }
        guard bytes <= XMPPStream.maximumArchivePageBytes - self.bytes else {
            excess =
                "The archive sent more than \(XMPPStream.maximumArchivePageBytes) bytes; ask for fewer messages at once."
            return
        }
        results.append(result)
        self.bytes += bytes
    }
}

extension XMPPStream {
    /// How many messages a page of an archive has at most; 500.
    public static let maximumArchivePage = 500
    /// How many bytes of memory a page of an archive takes at most; 64 MiB, more than fifty stanzas of the largest
    /// size.
    public static let maximumArchivePageBytes = 64 * 1_048_576

    /// Asks an archive for a page of messages (XEP-0313).
    ///
    /// What comes as a result counts only from the archive that was asked, and only while it is asked (XEP-0313 §8.2).
    ///
    /// - Parameters:
    ///   - filter: Which messages.
    ///   - archive: Whose archive: a room, or `nil` for the own account.
    ///   - page: Which page; it has at most ``maximumArchivePage`` messages, 50 unless said otherwise.
    ///   - timeout: How long to wait for it.
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``; with ``XMPPError/Code/overflow`` when the archive sends more
    ///   than was asked for, or more than ``maximumArchivePageBytes``: a smaller page may be had then.
    public func archivePage(
        _ filter: ArchiveFilter = ArchiveFilter(), of archive: JID? = nil, page: ResultSetRequest = ResultSetRequest(),
        timeout: Duration = .seconds(60)
    ) async throws(XMPPError) -> ArchivePage {
        var page = page
        let maximum = min(max(page.maximum ?? 50, 0), Self.maximumArchivePage)
        page.maximum = maximum
        let id = newStanzaID()
        let query = Element(
            "query", namespace: ArchiveFilter.namespace, attributes: ["queryid": id],
            children: [filter.form.element, page.element])
        archiveQueries[id] = ArchiveCollector(archive: archive, requestID: id, maximum: maximum)
        defer { archiveQueries[id] = nil }
        let request = IQ(.set, to: archive, payload: query)
        let answer = try await self.answer(to: try await ask(request, id: id), asked: archive, timeout: timeout)
        let collected = archiveQueries[id]
        if let excess = collected?.excess { throw XMPPError(.overflow, excess) }
        guard let end = answer.payload, end.isNamed("fin", namespace: ArchiveFilter.namespace) else {
            throw XMPPError(
                StanzaError(.undefinedCondition, kind: .cancel, text: "the archive does not say where its answer ends"),
                from: archive)
        }
        let place = end.firstChild("set", namespace: ResultSetRequest.namespace).flatMap(ResultSet.init)
        return ArchivePage(
            results: collected?.results ?? [], place: place ?? ResultSet(),
            isComplete: ["true", "1"].contains(end["complete"]))
    }

    /// The messages of an archive, oldest first, page by page as they are read (XEP-0313, XEP-0059).
    ///
    /// - Parameters:
    ///   - filter: Which messages.
    ///   - archive: Whose archive: a room, or `nil` for the own account.
    ///   - last: What the archive calls the last message that is known: those behind it come.
    ///   - pageSize: How many messages are asked for at once.
    public nonisolated func archive(
        _ filter: ArchiveFilter = ArchiveFilter(), of archive: JID? = nil, after last: String? = nil,
        pageSize: Int = 50
    ) -> ArchiveSequence {
        ArchiveSequence(stream: self, filter: filter, archive: archive, last: last, pageSize: pageSize)
    }

    /// A message that calls itself a result of an archive: it is that, or nothing.
    func received(archiveResult result: Element, from: JID) {
        guard let name = result["queryid"], let query = archiveQueries[name], !query.isClosed else { return }
        // The own archive is the account's, whose bare address is also what no address means (RFC 6120 §8.1.2.1).
        guard from == query.archive ?? account.bare else { return }
        guard let message = ArchiveResult(result) else { return }
        archiveQueries[name]?.add(message, bytes: result.storedBytes)
    }

    /// The answer to a request has come: what an archive sends behind it does not belong to it.
    func closeArchiveQuery(of requestID: String) {
        guard !archiveQueries.isEmpty else { return }
        for (name, query) in archiveQueries where query.requestID == requestID { archiveQueries[name]?.isClosed = true }
    }
}

extension StanzaRoutes {
    /// Takes results of archives to whoever asked for them. Anybody may send something that calls itself one: it is
    /// never a message.
    mutating func addMessageArchive() {
        addMessage("result", namespace: ArchiveFilter.namespace, from: .anyone, feature: nil) {
            stream, message, result in
            if let from = message.from { stream.received(archiveResult: result, from: from) }
            return .dropped
        }
    }
}

/// The messages of an archive, page by page. It may be read again: it then asks again.
public struct ArchiveSequence: AsyncSequence, Sendable {
    /// How many pages are read at most; 10,000.
    public static let maximumPages = 10_000

    let stream: XMPPStream
    let filter: ArchiveFilter
    let archive: JID?
    let last: String?
    let pageSize: Int

    /// Begins the loop.
    public func makeAsyncIterator() -> Iterator {
        Iterator(sequence: self)
    }

    /// The loop's position.
    public struct Iterator: AsyncIteratorProtocol {
        private let sequence: ArchiveSequence
        private var position: ResultSetRequest.Position
        private var page: ArraySlice<ArchiveResult> = []
        private var isAtEnd = false
        /// Where pages have ended: an archive that comes back to one goes in circles.
        private var ends: Set<String>

        fileprivate init(sequence: ArchiveSequence) {
            self.sequence = sequence
            position = sequence.last.map(ResultSetRequest.Position.after) ?? .start
            ends = Set([sequence.last].compactMap { $0 })
        }

        /// The next message; `nil` at the end.
        ///
        /// - Throws: ``XMPPError`` as ``XMPPStream/archivePage(_:of:page:timeout:)``; with
        ///   ``XMPPError/Code/protocolViolation`` for an archive that goes in circles, with ``XMPPError/Code/overflow``
        ///   for one without an end.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(XMPPError) -> ArchiveResult? {
            while page.isEmpty {
                if isAtEnd { return nil }
                guard ends.count < ArchiveSequence.maximumPages else {
                    throw XMPPError(
                        .overflow, "The archive has more than \(ArchiveSequence.maximumPages) pages.")
                }
                let next = try await sequence.stream.archivePage(
                    sequence.filter, of: sequence.archive,
                    page: ResultSetRequest(maximum: sequence.pageSize, position))
                page = next.results[...]
                guard let end = next.place.last, !next.isComplete else {
                    isAtEnd = true
                    continue
                }
                guard ends.insert(end).inserted else {
                    isAtEnd = true
                    page = []
                    throw XMPPError(.protocolViolation, "The archive goes in circles: a page ends where another did.")
                }
                position = .after(end)
            }
            return page.popFirst()
        }

        /// The next message; `nil` at the end.
        public mutating func next() async throws(XMPPError) -> ArchiveResult? {
            try await next(isolation: nil)
        }
    }
}
