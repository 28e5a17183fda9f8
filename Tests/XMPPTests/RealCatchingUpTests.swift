// SPDX-License-Identifier: Apache-2.0

import SocketIO
import Testing
import XMPPTestSupport

@testable import XMPP

@Suite("The archives of real servers (XEP-0313)", .timeLimit(.minutes(3)))
struct RealCatchingUpTests {
    @Test(
        "What came for a client that was away is told by the next session, in order and once",
        arguments: ServerKind.expected)
    func missed(kind: ServerKind) async throws {
        let server = try await kind.start(accounts: ["juliet": "balcony", "romeo": "orchard"])
        let romeo = XMPPClient(try server.configuration(for: "romeo", resource: "orchard"))
        let juliet = XMPPClient(try server.configuration(for: "juliet"))
        let recorder = Recorder()
        romeo.add(messageDelegate: recorder)
        var hers: JID?
        // A server that has just begun may turn away who comes first.
        try await Patience.wait(for: "juliet to be online") {
            hers = try? await juliet.start()
            return hers != nil
        }
        let from = try #require(hers)
        let his = try await romeo.start()
        func say(_ numbers: Range<Int>) async throws {
            for number in numbers { try await juliet.send(Message(to: his.bare, body: "\(number)")) }
            try await juliet.waitUntilHandled()
        }
        try await say(0..<3)
        await recorder.heard("message \(from) 2")
        #expect(romeo.archivePlace?.last != nil)
        await romeo.stop()
        try await say(3..<20)
        // Another client of the account takes what the server has kept: the archive alone has it then.
        let other = XMPPClient(try server.configuration(for: "romeo", resource: "elsewhere"))
        let taken = Recorder()
        other.add(messageDelegate: taken)
        try await other.start()
        await taken.heard("message \(from) 19")
        await other.stop()
        try await romeo.start()
        try await say(20..<22)
        await recorder.heard("message \(from) 21")
        #expect(recorder.lines.filter { $0.hasPrefix("message") } == (0..<22).map { "message \(from) \($0)" })
        await romeo.stop()
        await juliet.stop()
        await server.stop()
    }
}
