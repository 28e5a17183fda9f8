// SPDX-License-Identifier: Apache-2.0

import Glibc
import SocketIO
import Testing
import XMPPTestSupport

@testable import XMPP

@Suite("Resumption on a real server (XEP-0198 §5)", .timeLimit(.minutes(3)))
struct RealResumptionTests {
    @Test(
        "the connection is cut again and again: every message arrives once, in order",
        arguments: ServerKind.expected.filter { $0 == .prosody })
    func cuts(kind: ServerKind) async throws {
        let server = try await kind.start(accounts: ["juliet": "balcony", "romeo": "orchard"])
        let patience = ReconnectPolicy(firstDelay: .milliseconds(1), minimumDelay: .milliseconds(1))
        let romeo = XMPPClient(try server.configuration(for: "romeo"), reconnect: patience)
        let juliet = XMPPClient(try server.configuration(for: "juliet"), reconnect: patience)
        let recorder = Recorder()
        romeo.add(chatDelegate: recorder)
        romeo.add(messageDelegate: recorder)
        let julietsRecorder = Recorder()
        juliet.add(messageDelegate: julietsRecorder)
        let hers = try await juliet.start()
        let his = try await romeo.start()
        var sent: [String] = []
        for round in 0..<5 {
            for number in 0..<4 {
                let body = "\(round).\(number)"
                try await juliet.send(Message(to: his, body: body))
                try await romeo.send(Message(to: hers, body: body))
                sent.append(body)
                if number == 1 { await romeo.stream?.cut() }
                try await Patience.wait(for: "romeo to be back") {
                    if await romeo.stream?.isEstablished == true { return true }
                    _ = try? await romeo.start()
                    return false
                }
            }
        }
        for body in sent {
            await recorder.heard("message \(hers) \(body)")
            await julietsRecorder.heard("message \(his) \(body)")
        }
        try await romeo.waitUntilHandled()
        #expect(recorder.lines.filter { $0.hasPrefix("message") } == sent.map { "message \(hers) \($0)" })
        #expect(julietsRecorder.lines.filter { $0.hasPrefix("message") } == sent.map { "message \(his) \($0)" })
        #expect(recorder.lines.count { $0 == "resumed" } == 5)
        #expect(!recorder.lines.contains { $0.hasPrefix("not resumed") || $0.hasPrefix("offline") })
        await romeo.stop()
        await juliet.stop()
        await server.stop()
    }
}

extension RealResumptionTests {
    @Test(
        "a server that stands still is noticed, and when it goes on everything arrives once, in order (RFC 6120 §4.6.4)",
        arguments: ServerKind.expected)
    func standsStill(kind: ServerKind) async throws {
        let server = try await kind.start(accounts: ["juliet": "balcony", "romeo": "orchard"])
        var configuration = try server.configuration(for: "romeo", resource: "orchard")
        configuration.timeouts = StreamTimeouts(
            tls: .seconds(2), negotiation: .seconds(2), acknowledgement: .milliseconds(100), answer: .seconds(1))
        let romeo = XMPPClient(
            configuration,
            reconnect: ReconnectPolicy(
                firstDelay: .milliseconds(1), baseDelay: .milliseconds(50), maximumDelay: .milliseconds(200),
                minimumDelay: .milliseconds(1)))
        let juliet = XMPPClient(try server.configuration(for: "juliet"))
        let recorder = Recorder()
        juliet.add(messageDelegate: recorder)
        let hers = try await juliet.start()
        let his = try await romeo.start()
        var entries: [OutboxEntry] = []
        for number in 0..<5 { entries.append(try await romeo.post(Message(to: hers, body: "\(number)"))) }
        for entry in entries { #expect(try await romeo.waitUntil(.server, of: entry).state == .server) }
        let group = -server.process.processID
        #expect(kill(group, SIGSTOP) == 0)
        for number in 5..<10 { entries.append(try await romeo.post(Message(to: hers, body: "\(number)"))) }
        try await Patience.wait(for: "romeo to notice") {
            if case .online = await romeo.state { false } else { true }
        }
        #expect(kill(group, SIGCONT) == 0)
        for entry in entries { #expect(try await romeo.waitUntil(.server, of: entry).state == .server) }
        await recorder.heard("message \(his) 9")
        let heard = recorder.lines.filter { $0.hasPrefix("message") }
        #expect(heard == (0..<10).map { "message \(his) \($0)" })
        await romeo.stop()
        await juliet.stop()
        await server.stop()
    }
}

extension XMPPStream {
    /// Loses the connection without a word to the server.
    func cut() {
        transport?.abort()
        perform(machine.transportEnded("cut by the test"))
        endTurn()
    }
}
