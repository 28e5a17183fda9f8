// SPDX-License-Identifier: Apache-2.0

import JabberControl

// Code that an article shows and that would need a running daemon: here it is only compiled.

/// Driving the daemon.
func sayGoodNight() async throws {
    let daemon = ControlClient(account: "juliet@example.org")
    for contact in try await daemon.online() {
        print(contact.name ?? contact.jid, contact.show?.rawValue ?? "")
    }
    let sent = try await daemon.send("Good night!", to: ["romeo@example.net"])
    for message in sent where message.state == .failed { print(message.error?.message ?? "") }
    let answer = try await daemon.call("disco", ["jid": "example.org"])
    print(answer["features"]?.stringsValue ?? [])
    for try await event in daemon.events([.message], consumer: "bot") {
        guard let sender = event.from, let text = event.body, !event.isOutgoing else { continue }
        _ = try await daemon.send("You said: \(text)", to: [sender])
    }
}
