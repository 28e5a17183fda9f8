// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import SocketIO
internal import XMPP

/// `online`: who of the contacts is there.
enum OnlineMethod {
    /// How long it may take until everybody's presence is there.
    static let longestWait: Duration = .seconds(5)
    /// The quiet time that is waited for when the caller names none.
    static let defaultSettle = 300
    /// Changes that come within this time are shown at once.
    static let gathering: Duration = .milliseconds(50)

    static func run(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let view = View(
            group: try call.parameters.string("group"), all: try call.parameters.flag("all"),
            settle: .milliseconds(try call.parameters.whole("settle", in: 0...5000) ?? defaultSettle))
        let watches = try call.parameters.flag("watch")
        let session = try await call.session
        if watches { return try await watch(call, session, view) }
        let stream = try await session.settled(view.settle)
        return await view.document(session, stream)
    }

    private static func watch(
        _ call: MethodCall, _ session: AccountSession, _ view: View
    ) async throws(ControlError) -> JSONObject {
        let last = Locked<JSONObject?>(nil)
        try await session.keepOnline(priority: -1) { change in
            guard case .connected(let stream) = change else { return }
            // From now on the stream's own end is waited for here, too: the list empties with it.
            await session.settle(stream, view.settle)
            while !Task.isCancelled {
                // What changes while the caller does not read is one change.
                guard await call.room() else { return }
                let seen = session.feed.count
                let document = await view.document(session, stream)
                let isNew = last.withLock { last in
                    defer { last = document }
                    return last != document
                }
                if isNew { call.emit(document) }
                guard await stream.isEstablished else { return }
                await session.feed.next(after: seen, atMost: .seconds(60))
                await Race.pause(gathering)
            }
        }
        return session.heading
    }

    /// Which contacts are shown.
    struct View: Sendable {
        let group: String?
        let all: Bool
        let settle: Duration

        /// The result: online ones first, then by name.
        func document(_ session: AccountSession, _ stream: XMPPStream) async -> JSONObject {
            let items = await stream.contacts ?? []
            let buddies = Dictionary(
                await stream.buddies.map { ($0.jid, $0) }, uniquingKeysWith: { first, _ in first })
            let wanted = items.filter { group.map($0.groups.contains) ?? true }.inDisplayOrder()
            let shown =
                wanted.filter { buddies[$0.jid] != nil } + (all ? wanted.filter { buddies[$0.jid] == nil } : [])
            var document = session.heading
            document["contacts"] = .array(
                shown.map { item in
                    .object(ContactDocument.contact(item, presence: buddies[item.jid] ?? Buddy(jid: item.jid)))
                })
            return document
        }
    }
}

extension AccountSession {
    /// The stream, once everybody's presence is there as far as one can know.
    ///
    /// - Parameter quiet: The time without news to wait for.
    func settled(_ quiet: Duration) async throws(ControlError) -> XMPPStream {
        let (stream, since) = try await withPresence()
        await settle(stream, quiet, since: since)
        guard await stream.isEstablished else {
            if let error = await stream.waitUntilEnded() { throw ControlError(error, account: name) }
            throw ControlError(.notConnected, "the session has ended", account: name)
        }
        return stream
    }

    /// Waits until a ping sent behind the presence has come back, and nothing new has arrived for a while.
    ///
    /// Where nobody's presence may be seen nothing can arrive, and nothing is waited for.
    nonisolated func settle(_ stream: XMPPStream, _ quiet: Duration, since: Duration? = nil) async {
        let start = feed.now
        // Everything that was to come has come long ago.
        if let since, start - since > OnlineMethod.longestWait { return }
        await Race.attempt(within: OnlineMethod.longestWait) { _ = try? await stream.ping() }
        guard await stream.contacts?.contains(where: { $0.subscription.includesTo }) == true else { return }
        await feed.waitForQuiet(quiet, since: since ?? start, until: start + OnlineMethod.longestWait)
    }
}
