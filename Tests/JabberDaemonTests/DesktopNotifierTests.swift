// SPDX-License-Identifier: Apache-2.0

import Foundation
import JabberControl
import Testing
import XMPP
import XMPPTestSupport

@testable import JabberDaemon

@Suite("Notifications on the desktop", .enabled(if: NotificationService.isPossible), .timeLimit(.minutes(5)))
struct DesktopNotifierTests {
    private func message(_ text: String?, _ change: (inout Message) -> Void = { _ in }) throws -> ChatMessage {
        var message = Message(to: try JID("juliet@example.org"), body: text)
        message.from = try JID("romeo@example.net/phone")
        message.kind = .chat
        change(&message)
        return ChatMessage(message, account: try JID("juliet@example.org"))
    }

    @Test(
        "A message is shown with who wrote it; nothing in its text is markup, moves the cursor or is longer than 300 characters"
    )
    func shows() async throws {
        let service = try await NotificationService()
        let notifier = DesktopNotifier(environment: ["DBUS_SESSION_BUS_ADDRESS": service.address])
        notifier.isWanted = true
        notifier.received(try message("Romeo <b>&</b> \u{1B}[2J\u{202E}"))
        notifier.received(try message(String(repeating: "é", count: 301)))
        await notifier.flush()
        let shown = service.notifications
        #expect(shown.count == 2)
        #expect(shown.first?.application == "jabberctl" && shown.first?.summary == "romeo@example.net")
        #expect(shown.first?.body == #"Romeo &lt;b&gt;&amp;&lt;/b&gt; \u{1b}[2J\u{202e}"#)
        #expect(shown.last?.body == String(repeating: "é", count: 300) + "…")
        await service.end()
    }

    @Test("An accent on a sign makes no markup of it, and a letter with half a million marks is cut as well")
    func accents() {
        let body = DesktopNotifier.body("<\u{301}b>&\u{301}")
        #expect(Array(body.utf8) == Array("&lt;\u{301}b&gt;&amp;\u{301}".utf8))
        let letter = DesktopNotifier.body("a" + String(repeating: "\u{301}", count: 500_000))
        #expect(letter.unicodeScalars.count == DesktopNotifier.maximumScalars + 1)
    }

    @Test("Only what somebody has just written to the user is shown, and only when the settings ask for it")
    func choice() async throws {
        let service = try await NotificationService()
        let notifier = DesktopNotifier(environment: ["DBUS_SESSION_BUS_ADDRESS": service.address])
        notifier.received(try message("not wanted"))
        notifier.isWanted = true
        notifier.received(try message(nil))
        notifier.received(try message("in a room") { $0.kind = .groupchat })
        notifier.received(try message("an error") { $0.kind = .error })
        notifier.received(
            try message("old") {
                $0.append(Element("delay", namespace: "urn:xmpp:delay", attributes: ["stamp": "2026-01-02T03:04:05Z"]))
            })
        notifier.received(try message("wanted") { $0.kind = .normal })
        await notifier.flush()
        #expect(service.notifications.map(\.body) == ["wanted"])
        await service.end()
    }

    @Test("Without a bus, without a service on it, and when many come at once, nobody waits and nothing fails")
    func nothing() async throws {
        let service = try await NotificationService(answers: false)
        for address in ["", "unix:path=/nonexistent/bus", "nonsense", service.address] {
            let notifier = DesktopNotifier(environment: ["DBUS_SESSION_BUS_ADDRESS": address])
            notifier.isWanted = true
            for _ in 1...100 { notifier.show(summary: "a", text: "b") }
            await notifier.flush()
        }
        await service.end()
    }

    @Test("systemd's usual place is looked at when no variable names a bus, and the settings turn it on and off")
    func daemon() async throws {
        let service = try await NotificationService()
        let folder = String(service.address.dropFirst("unix:path=".count).dropLast("/bus".count))
        let romeo = LoopbackBuddy("romeo", behaviors: [])
        try await LastingHarness.run(buddies: [romeo], runtimeFolder: folder) { daemon in
            try PrivateFile.write(Array("{notify: true}".utf8), to: daemon.folder + "/config/jabberctl/config.json")
            try await daemon.call("daemon.reload", account: nil)
            try await daemon.call("connect")
            let juliet = try JID("juliet@example.org")
            var hello = Message(to: juliet, body: "hello")
            hello.kind = .chat
            try await daemon.server.send(hello, as: "romeo")
            try await Patience.wait(for: "the notification") { !service.notifications.isEmpty }
            #expect(
                service.notifications == [.init(application: "jabberctl", summary: "romeo@example.org", body: "hello")])
        }
        await service.end()
    }
}
