// SPDX-License-Identifier: Apache-2.0

import SocketIO
import Testing
import XMPPTestSupport

@testable import XMPP

@Suite("Resumption on real servers (XEP-0198 §5)", .timeLimit(.minutes(3)))
struct RealResumptionTests {
    @Test(
        "the connection is cut again and again: every message arrives once, in order",
        arguments: ServerKind.expected)
    func cuts(kind: ServerKind) async throws {
        let server = try await kind.start(accounts: ["juliet": "balcony", "romeo": "orchard"])
        // ejabberd goes on with what it has read from the old connection while it hands the session over; nobody who loses a
        // network is back before that.
        let pause: Duration = kind == .ejabberd ? .milliseconds(500) : .milliseconds(1)
        let patience = ReconnectPolicy(firstDelay: .milliseconds(1), minimumDelay: pause)
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
                while await !(romeo.stream?.isEstablished ?? false) { _ = try? await romeo.start() }
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
    fileprivate func cut() {
        transport?.abort()
        perform(machine.transportEnded("cut by the test"))
        endTurn()
    }
}
