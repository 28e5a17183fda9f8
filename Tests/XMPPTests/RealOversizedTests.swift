// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPTestSupport

@testable import XMPP

@Suite("Stanzas that a real server makes too large, or takes although they are", .timeLimit(.minutes(5)), .serialized)
struct RealOversizedTests {
    /// A message that a stranger can send.
    enum Poison: String, CaseIterable, Sendable {
        /// 13 KB, of which a server that writes the namespace out at each child makes 2 MB.
        case namespace
        /// The same with 73 KB.
        case children
        /// 80 KB of empty elements.
        case elements
        /// A start tag with many attributes.
        case attributes

        func xml(to: JID) -> String {
            let start = "<message to='\(to)' type='chat' id='poison'"
            let body = "<body>poison</body>"
            let name = String(repeating: "A", count: 1_000)
            return switch self {
            case .namespace, .children:
                start + ">" + body + "<x xmlns='urn:x' xmlns:p='urn:\(name)'>"
                    + String(repeating: "<p:a/>", count: self == .namespace ? 2_000 : 12_000) + "</x></message>"
            case .elements:
                start + ">" + body + "<x xmlns='urn:x'>" + String(repeating: "<a/>", count: 20_001) + "</x></message>"
            case .attributes:
                start + (0..<300).map { " a\($0)='x'" }.joined() + ">" + body + "</message>"
            }
        }
    }

    @Test(
        "an account is not locked out by one message of another user, and what is behind it arrives",
        arguments: ServerKind.expected, Poison.allCases)
    func notLockedOut(kind: ServerKind, poison: Poison) async throws {
        let server = try await kind.start(accounts: ["juliet": "balcony", "romeo": "orchard"])
        let client = XMPPClient(
            try server.configuration(for: "romeo", resource: "one"),
            reconnect: ReconnectPolicy(
                firstDelay: .milliseconds(1), baseDelay: .milliseconds(1), minimumDelay: .milliseconds(1)))
        let recorder = Recorder()
        client.add(chatDelegate: recorder)
        client.add(messageDelegate: recorder)
        try await client.start()
        let account = try JID("romeo@\(server.domain)")
        var configuration = try server.configuration(for: "juliet", resource: "one")
        configuration.usesStreamManagement = false
        let juliet = XMPPStream(configuration)
        try await juliet.connect()
        let hers = try #require(await juliet.jid)
        await juliet.sendRaw(poison.xml(to: account))
        try await juliet.send(Message(to: account, body: "behind"))
        await recorder.heard("message \(hers) behind")
        try await juliet.send(Message(to: account, body: "last"))
        await recorder.heard("message \(hers) last")
        await client.stop()
        // ejabberd may keep what was refused until the session after the next. Then it does not come again.
        for number in 0..<2 {
            try await client.start()
            try await juliet.send(Message(to: account, body: "after \(number)"))
            await recorder.heard("message \(hers) after \(number)")
            await client.stop()
        }
        let lines = recorder.lines
        let unread = lines.filter { $0.hasPrefix("not read") }
        let read = lines.filter { $0 == "message \(hers) poison" }
        // Where the server has not made it larger, it is a message as any other.
        #expect(unread.count + read.count == 1, "\(lines)")
        // ejabberd leaves out attributes that it does not know.
        if poison == .elements || kind == .prosody { #expect(unread.count == 1, "\(lines)") }
        // Three sessions, and one more for the one that was refused.
        #expect(lines.filter { $0.hasPrefix("authenticated") }.count == 3 + unread.count, "\(lines)")
        for body in ["behind", "last", "after 0", "after 1"] {
            #expect(lines.filter { $0 == "message \(hers) \(body)" }.count == 1, "\(lines)")
        }
        await juliet.disconnect()
        await server.stop()
    }
}

extension XMPPStream {
    /// Writes what no serializer would.
    func sendRaw(_ xml: String) {
        enqueue(Array(xml.utf8))
        flush()
    }
}
