// SPDX-License-Identifier: Apache-2.0

import SocketIO
import XMPP
import XMPPTestSupport

/// A delegate that takes down what it hears, in order, and lets a test wait for something.
final class Recorder: ChatDelegate, MessageDelegate {
    private struct State {
        var lines: [String] = []
        var waiters: [(line: String, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())

    /// What was heard.
    var lines: [String] { state.withLock { $0.lines } }

    /// Waits until a line has been heard.
    func heard(_ line: String) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state -> Bool in
                if state.lines.contains(line) { return true }
                state.waiters.append((line, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    private func note(_ line: String) {
        let ready = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.lines.append(line)
            let ready = state.waiters.filter { $0.line == line }.map(\.continuation)
            state.waiters.removeAll { $0.line == line }
            return ready
        }
        for continuation in ready { continuation.resume() }
    }

    func streamDidConnect(_ stream: XMPPStream) async { note("connected") }
    func stream(_ stream: XMPPStream, serverDidChangeKey change: ServerKeyChange) async {
        note("key \(change.old.fingerprint) \(change.new.fingerprint)")
    }
    func stream(_ stream: XMPPStream, didAuthenticateAs jid: JID) async { note("authenticated \(jid)") }
    func stream(_ stream: XMPPStream, buddyCameOnline buddy: Buddy) async { note("online \(buddy.displayName)") }
    func stream(_ stream: XMPPStream, buddyChanged buddy: Buddy) async {
        note("changed \(buddy.displayName) \(buddy.best?.presence.show?.rawValue ?? "available")")
    }
    func stream(_ stream: XMPPStream, buddyWentOffline buddy: Buddy) async { note("offline \(buddy.displayName)") }
    func stream(_ stream: XMPPStream, didReceiveSubscriptionRequest request: Presence) async {
        note("request \(request.from?.description ?? "")")
    }
    func stream(_ stream: XMPPStream, didUpdateRoster update: RosterUpdate) async {
        switch update {
        case .received(let items, _): note("roster \(items.count)")
        case .unchanged: note("roster unchanged")
        case .changed(.updated(let item), _): note("item \(item.jid)")
        case .changed(.removed(let jid), _): note("removed \(jid)")
        }
    }
    func streamWasInterrupted(_ stream: XMPPStream, error: XMPPError) async { note("interrupted") }
    func streamDidResume(_ stream: XMPPStream) async { note("resumed") }
    func stream(_ stream: XMPPStream, didNotResume outcome: FailedResumption) async {
        note("not resumed \(outcome.repeated.compactMap(\.id).joined(separator: " "))")
    }
    func streamDidDisconnect(_ stream: XMPPStream, error: XMPPError?) async {
        note("disconnected \(error?.code.rawValue ?? "")")
    }
    func stream(_ stream: XMPPStream, didReceive message: Message) async {
        note("message \(message.from?.description ?? "") \(message.body ?? "-")")
    }
    func stream(_ stream: XMPPStream, didNotRead stanza: OversizedStanza) async {
        note("not read: \(stanza.kind.rawValue) \(stanza.id ?? "") \(stanza.from?.description ?? "")")
    }
    func stream(_ stream: XMPPStream, didBounce message: Message, error: StanzaError) async {
        note("bounced \(message.id ?? "") \(error.condition)")
    }
    func stream(_ stream: XMPPStream, didReceiveReceiptFor messageID: String, from jid: JID) async {
        note("receipt \(messageID) \(jid)")
    }
}

/// A server at example.net for `romeo`, with juliet online and nurse offline.
func verona(_ change: (inout LoopbackOptions) -> Void = { _ in }) async throws -> LoopbackServer {
    var options = LoopbackOptions()
    change(&options)
    let server = try await LoopbackServer.start(
        domain: "example.net", accounts: ["romeo": "secret"], options: options)
    try await server.add(LoopbackBuddy("juliet", name: "Juliet", resource: "balcony", behaviors: []))
    try await server.add(LoopbackBuddy("nurse", name: "Nurse", presence: nil, behaviors: []))
    return server
}

/// Romeo's stream with a recorder, connected.
func romeo(
    _ server: LoopbackServer, _ change: (inout XMPPConfiguration) -> Void = { _ in }
) async throws -> (XMPPStream, Recorder) {
    var configuration = try await server.configuration(for: "romeo", resource: "orchard")
    change(&configuration)
    let stream = XMPPStream(configuration)
    let recorder = Recorder()
    stream.add(chatDelegate: recorder)
    stream.add(messageDelegate: recorder)
    try await stream.connect()
    return (stream, recorder)
}
