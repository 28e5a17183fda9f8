// SPDX-License-Identifier: Apache-2.0

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

extension XMPPStream {
    /// Loses the connection without a word to the server.
    func cut() {
        transport?.abort()
        perform(machine.transportEnded("cut by the test"))
        endTurn()
    }
}
