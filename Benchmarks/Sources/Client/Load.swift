// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import XMPP

/// What a client is to do.
enum LoadMode: String, Sendable {
    case receive, send, roster, idle
}

/// One measured piece of work.
struct Load: Sendable {
    let mode: LoadMode
    let count: Int
    let configuration: XMPPConfiguration

    func run() async throws {
        switch mode {
        case .receive: try await receive()
        case .send: try await send()
        case .roster: try await roster()
        case .idle: try await idle()
        }
    }

    private func receive() async throws {
        let stream = XMPPStream(configuration)
        let counter = Counter(goal: count)
        stream.add(messageDelegate: counter)
        try await stream.connect()
        try await stream.requestRoster()
        let start = Usage.now()
        try await stream.send(Presence())
        await counter.reached()
        Usage.now().report(since: start, count: counter.count, bodyBytes: counter.bodyBytes)
    }

    private func send() async throws {
        let stream = XMPPStream(configuration)
        let counter = Counter(goal: 1)
        stream.add(messageDelegate: counter)
        try await stream.connect()
        try await stream.requestRoster()
        let start = Usage.now()
        try await stream.send(Presence())
        let to = try JID("anna.lindqvist0@example.net")
        for _ in 0..<count {
            try await stream.send(
                Message(
                    to: to,
                    body: "The figures for x < 10 look wrong to me, could you have a second look before noon?"))
        }
        await counter.reached()
        Usage.now().report(since: start, count: count, bodyBytes: 0)
    }

    private func roster() async throws {
        let start = Usage.now()
        let stream = XMPPStream(configuration)
        let counter = Counter(goal: count)
        let roster = RosterStore()
        let buddies = CountedBuddies(goal: count)
        stream.add(chatDelegate: roster)
        stream.add(chatDelegate: buddies)
        stream.add(chatDelegate: counter)
        try await stream.connect()
        try await stream.goOnline()
        await counter.reached()
        await buddies.counter.reached()
        Usage.now().report(since: start, count: counter.count, bodyBytes: 0)
    }

    private func idle() async throws {
        var streams: [XMPPStream] = []
        var start = Usage.now()
        for number in 0..<(10 + count) {
            if number == 10 { start = Usage.now() }
            let stream = XMPPStream(configuration)
            try await stream.connect()
            try await stream.requestRoster()
            try await stream.send(Presence())
            streams.append(stream)
        }
        Usage.now().report(since: start, count: count, bodyBytes: 0)
    }
}

/// Counts what arrives until there is enough.
final class Counter: MessageDelegate, ChatDelegate {
    private struct State {
        var count = 0
        var bodyBytes = 0
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())
    private let goal: Int

    init(goal: Int) {
        self.goal = goal
    }

    var count: Int { state.withLock { $0.count } }
    var bodyBytes: Int { state.withLock { $0.bodyBytes } }

    /// Waits until as much has arrived as was asked for.
    func reached() async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state -> Bool in
                if state.count >= goal { return true }
                state.waiter = continuation
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    func arrived(_ bytes: Int) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.count += 1
            state.bodyBytes += bytes
            guard state.count >= goal else { return nil }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    func stream(_ stream: XMPPStream, didReceive message: Message) async {
        if let body = message.body { arrived(body.utf8.count) }
    }

    func stream(_ stream: XMPPStream, didReceive presence: Presence) async {
        if presence.kind == .available { arrived(0) }
    }
}

/// A buddy list that tells when enough buddies have come online.
final class CountedBuddies: ChatDelegate {
    let counter: Counter
    private let list = BuddyList()

    init(goal: Int) {
        counter = Counter(goal: goal)
    }

    func stream(_ stream: XMPPStream, buddyCameOnline buddy: Buddy) async {
        await list.stream(stream, buddyCameOnline: buddy)
        counter.arrived(0)
    }

    func stream(_ stream: XMPPStream, buddyWentOffline buddy: Buddy) async {
        await list.stream(stream, buddyWentOffline: buddy)
    }

    func stream(_ stream: XMPPStream, buddyChanged buddy: Buddy) async {
        await list.stream(stream, buddyChanged: buddy)
    }
}
