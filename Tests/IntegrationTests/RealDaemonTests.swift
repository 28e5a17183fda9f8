// SPDX-License-Identifier: Apache-2.0

import Foundation
import JabberControl
import SocketIO
import Testing
import XMPP
import XMPPTestSupport

/// The real `jabberctl` and the real `jabberctld`, at the servers that people run.
@Suite("The daemon that stays, at real servers", .timeLimit(.minutes(5)), .serialized)
struct RealDaemonTests {
    @Test(
        "What a killed daemon had accepted arrives once and in order, and so does what comes while there is none",
        arguments: Place.Kind.expected.filter { $0 != .loopback })
    func killed(_ kind: Place.Kind) async throws {
        try await Place.with(kind) { place in
            let home = try Lodging(
                domain: place.domain, host: place.host, port: place.port, authorityFile: place.authorityFile)
            defer { home.remove() }
            let arrived = Locked<[String]>([])
            var configuration = XMPPConfiguration(
                jid: try JID("romeo@\(place.domain)").withResource("orchard"), password: "secret")
            configuration.host = place.host
            configuration.port = place.port
            configuration.certificateAuthorityFile = place.authorityFile
            configuration.observer = StreamObserver(event: { event in
                if case .message(let message) = event, let body = message.body {
                    arrived.withLock { $0.append(body) }
                }
            })
            try await XMPPStream.withSession(configuration) { romeo in
                try await romeo.send(Presence())
                var sent: [String] = []
                for number in 0..<4 {
                    let daemon = try home.daemon()
                    try await home.awaitDaemon()
                    // Before it is connected, or after: what was accepted is accepted.
                    if number % 2 == 0 { #expect(try await home.run("connect").code == 0) }
                    let text = "out-\(number)"
                    #expect(try await home.run("send", "romeo@\(place.domain)", text, "--until", "none").code == 0)
                    sent.append(text)
                    daemon.kill(SIGKILL)
                    #expect(await BlockingWork.run { daemon.wait() } == 128 + SIGKILL)
                    try await romeo.send(Message(to: try JID("juliet@\(place.domain)"), body: "in-\(number)"))
                    try await romeo.waitUntilHandled()
                }
                let daemon = try home.daemon()
                try await home.awaitDaemon()
                #expect(try await home.run("connect").code == 0)
                #expect(try await home.run("send", "romeo@\(place.domain)", "end", "-g", "state").output == "server\n")
                try await romeo.ping()
                #expect(arrived.withLock { $0 } == sent + ["end"])
                let heard = try await home.run("listen", "--since", "1", "--count", "4", "-g", "body")
                #expect(
                    heard.output.split(separator: "\n").map(String.init).filter { !$0.isEmpty }
                        == (0..<4).map { "in-\($0)" })
                daemon.kill(SIGTERM)
                #expect(await BlockingWork.run { daemon.wait(milliseconds: 10_000) } == 0)
            }
        }
    }
}
