// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import XMPP
import XMPPTestSupport

@Suite("Private Prosody and ejabberd")
struct PrivateServerTests {
    @Test("starts, serves an account over both ports, and leaves nothing behind", arguments: ServerKind.expected)
    func serves(kind: ServerKind) async throws {
        let server = try await kind.start(accounts: ["juliet": "balcony", "romeo": "orchard"])
        for directTLS in [false, true] {
            let stream = XMPPStream(try server.configuration(for: "juliet", directTLS: directTLS))
            try await stream.connect()
            let answer = try await stream.request(IQ(.get, payload: Element("query", namespace: Namespace.roster)))
            #expect(answer.payload?.children.map { $0["jid"] } == ["romeo@example.org"])
            await stream.disconnect()
        }
        let group = server.process.processID
        await server.stop()
        #expect(!server.process.isRunning)
        #expect(kill(-group, 0) == -1 && errno == ESRCH)
        #expect(!FileManager.default.fileExists(atPath: server.folderPath))
    }

    @Test("says what the program wrote when it does not come up, and leaves nothing behind")
    func reportsFailure() async throws {
        let folder = try TemporaryFolder()
        let process = try ServerProcess(
            "/bin/sh", ["-c", "echo no such luck; exit 3"], logFile: folder.file("log"))
        try await Patience.wait(for: "the program to end") { !process.isRunning }
        #expect(process.logTail == "no such luck\n")
        await process.stop()
    }

    @Test("ends a program that does not listen to SIGTERM")
    func killsStubbornPrograms() async throws {
        let folder = try TemporaryFolder()
        let process = try ServerProcess(
            "/bin/sh", ["-c", "trap '' TERM; while :; do sleep 60; done"], logFile: folder.file("log"))
        #expect(process.isRunning)
        await process.stop()
        #expect(kill(-process.processID, 0) == -1 && errno == ESRCH)
    }
}
