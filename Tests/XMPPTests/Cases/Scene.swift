// SPDX-License-Identifier: Apache-2.0

import SocketIO
import Testing
import XMPP
import XMPPCore
import XMPPTestSupport
import XMPPXML

/// What happened to a client, in order, and the means to wait for it.
final class EventTape: Sendable {
    private struct State {
        var events: [XMPPEvent] = []
        var waiters: [(isMet: @Sendable ([XMPPEvent]) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())

    /// Everything so far.
    var events: [XMPPEvent] { state.withLock { $0.events } }

    /// Takes an event down.
    func note(_ event: XMPPEvent) {
        let ready = state.withLock { state in
            state.events.append(event)
            let events = state.events
            let ready = state.waiters.filter { $0.isMet(events) }.map(\.continuation)
            state.waiters.removeAll { $0.isMet(events) }
            return ready
        }
        for continuation in ready { continuation.resume() }
    }

    /// The first event for which a value is found, once there is one.
    func first<Value: Sendable>(_ find: @escaping @Sendable (XMPPEvent) -> Value?) async -> Value? {
        await wait { $0.contains { find($0) != nil } }
        return events.lazy.compactMap(find).first
    }

    /// Waits until the events fulfil a condition.
    func wait(until isMet: @escaping @Sendable ([XMPPEvent]) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if isMet(state.events) { return true }
                state.waiters.append((isMet, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }
}

/// A client, `juliet@example.org/balcony` with the contacts romeo and nurse, that meets a server which follows a
/// script.
struct Scene {
    /// What the server says last, so that all before it has been dealt with.
    private static let curtain = "the curtain falls"

    let server: ScriptedServer
    let stream: XMPPStream
    let tape: EventTape
    /// Why the client did not get online; `nil` when it did.
    let error: XMPPError?

    /// Plays a script to its end; the client goes online as far as the script lets it.
    ///
    /// - Parameters:
    ///   - script: The server's part, in the language of ``StreamScript/init(text:)``.
    ///   - server: The server; one in the clear where nothing else is said.
    ///   - meanwhile: What the client does once it is online.
    ///   - configure: Changes the client's configuration.
    init(
        _ script: String, server: ScriptedServer? = nil,
        meanwhile: @Sendable (XMPPStream) async throws -> Void = { _ in },
        configure: (inout XMPPConfiguration) -> Void = { _ in }
    ) async throws {
        let server = try server ?? ScriptedServer(usesTLS: false)
        var configuration = server.configuration
        configuration.jid = try configuration.jid.withResource("balcony")
        configure(&configuration)
        let tape = EventTape()
        configuration.observer = StreamObserver(event: { tape.note($0) })
        let stream = XMPPStream(configuration)
        // A script that ends the stream itself has no curtain; its last words are never answered.
        let ends = script.contains("#! fin") || script.contains("#! rst") || script.contains("#! no-curtain")
        let last = ends ? "" : "\n<message from='example.org'><body>\(Self.curtain)</body></message>"
        let text = script.replacing("#! no-curtain\n", with: "")
        let play = try StreamScript(text: text + last)
        let played = Task { try await server.play(play) }
        var failure: XMPPError?
        do {
            try await stream.connect()
            try await stream.goOnline()
            try await meanwhile(stream)
        } catch let error as XMPPError {
            failure = error
        }
        if failure == nil { try await played.value } else { _ = try? await played.value }
        if failure == nil || last.isEmpty {
            await tape.wait { events in
                events.contains { event in
                    switch event {
                    case .message(let message): message.body == Self.curtain
                    case .disconnected: true
                    default: false
                    }
                }
            }
        }
        self.server = server
        self.stream = stream
        self.tape = tape
        error = failure
    }

    /// The messages that arrived.
    var messages: [Message] {
        tape.events.compactMap { event in
            if case .message(let message) = event, message.body != Self.curtain { message } else { nil }
        }
    }

    /// What there was to read.
    var bodies: [String] { messages.compactMap(\.body) }

    /// Who came online and who went offline, in order.
    var comings: [String] {
        tape.events.compactMap { event in
            switch event {
            case .buddyCameOnline(let buddy): "+\(buddy.jid)"
            case .buddyWentOffline(let buddy): "-\(buddy.jid)"
            default: nil
            }
        }
    }

    /// The changes of the roster after the first.
    var rosterChanges: [RosterChange] {
        tape.events.compactMap { event in
            if case .roster(.changed(let change, _)) = event { change } else { nil }
        }
    }

    /// Why the stream ended; `nil` while it lives.
    var end: XMPPError? {
        for case .disconnected(let error) in tape.events { return error }
        return nil
    }

    /// Everything that the client sent, header by header and element by element, up to now.
    func sent() async throws -> [String] {
        if await stream.isEstablished {
            try await stream.send(Message(to: JID("end.example.org"), body: "that is all"))
            _ = try await server.next(containing: "that is all")
        }
        return await server.received.joined().filter { !$0.contains("that is all") }
    }

    /// What the client sent in the session, after its roster request and its presence.
    func replies() async throws -> [Element] {
        let sent = try await sent()
        let first = sent.firstIndex { $0.contains("<presence") } ?? sent.startIndex
        return sent[first...].dropFirst().compactMap { try? Element.parse($0) }
    }

    /// Ends the client: the server hangs up, which is quicker than a goodbye that no script answers.
    func close() async {
        _ = try? await server.play(StreamScript(.close))
        await stream.disconnect()
    }
}
