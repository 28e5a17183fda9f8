// SPDX-License-Identifier: Apache-2.0

import XMPP
import XMPPStorage

// Code that the README and the articles show and that would need a real account to run: here it is only compiled.

/// README.
func sendOneMessage(_ text: String, to recipient: JID, as account: XMPPConfiguration) async throws {
    let stream = XMPPStream(account)
    try await stream.connect()
    try await stream.send(Message(to: recipient, body: text))
    try await stream.waitUntilHandled()
    await stream.disconnect()
}

/// README.
func sendFromTheReadme() async {
    do {
        let account = XMPPConfiguration(jid: try JID("juliet@example.org"), password: "secret")
        try await sendOneMessage("Wherefore art thou?", to: try JID("romeo@example.net"), as: account)
    } catch {
        print("not sent:", error)
    }
}

/// README.
final class Window: ChatDelegate, MessageDelegate {
    func stream(_ stream: XMPPStream, buddyCameOnline buddy: Buddy) async {
        print(buddy.displayName, "is here")
    }

    func stream(_ stream: XMPPStream, buddyWentOffline buddy: Buddy) async {
        print(buddy.displayName, "has left")
    }

    func stream(_ stream: XMPPStream, didReceive message: Message) async {
        print(message.from?.description ?? "", message.body ?? "")
    }
}

/// README.
func openTheWindow(_ account: XMPPConfiguration) async {
    let client = XMPPClient(account)
    let window = Window()
    client.add(chatDelegate: window)
    client.add(messageDelegate: window)
    do {
        try await client.run()
    } catch {
        print("offline for good:", error)
    }
    withExtendedLifetime(window) {}
}

/// Getting started.
func sayHello(as juliet: JID) async throws {
    let stream = XMPPStream(XMPPConfiguration(jid: juliet, password: "secret"))
    try await stream.connect()
    try await stream.send(Message(to: try JID("romeo@example.net"), body: "Wherefore art thou?"))
    try await stream.waitUntilHandled()
    await stream.disconnect()
}

/// Getting started.
func sayHelloOrWhyNot() async {
    do {
        try await sayHello(as: try JID("juliet@example.org"))
    } catch {
        print("not sent:", error)
    }
}

/// Getting started.
func tryOnLoopback(_ juliet: JID, _ password: Password, port: UInt16, authority: String) {
    var account = XMPPConfiguration(jid: juliet, password: password)
    account.host = "127.0.0.1"
    account.port = port
    account.certificateAuthorityFile = authority
}

/// Getting started.
func whoIsOnline(_ client: XMPPClient) {
    for buddy in client.buddies.online { print(buddy.displayName, buddy.jid) }
    for contact in client.roster.items { print(contact.jid, contact.subscription) }
}

/// Getting started.
func seeWhoIsOnline(_ juliet: JID) async throws {
    let client = XMPPClient(XMPPConfiguration(jid: juliet, password: "secret"))
    let events = client.events
    try await client.start()

    for try await event in events {
        switch event {
        case .buddyCameOnline(let buddy): print(buddy.displayName, "is here")
        case .buddyWentOffline(let buddy): print(buddy.displayName, "has left")
        case .message(let message): print(message.from?.description ?? "", message.body ?? "")
        default: break
        }
    }
}

/// Delegates.
func readMessages(_ client: XMPPClient) async throws {
    let messages = client.messages
    try await client.start()
    for try await message in messages { print(message.body ?? "") }
}

/// Outliving the process.
func keepWhatMatters(_ configuration: XMPPConfiguration, for romeo: JID) async throws {
    let database = try await Database(at: "/home/juliet/.local/state/chat/chat.db")
    let client = XMPPClient(
        configuration, store: DurableStreamStateStore(database), outbox: DurableOutbox(database))

    let message = Message(to: romeo, body: "Good night, good night!", id: "n1")
    let entry = try await client.post(message)
    let end = try await client.waitUntil(.server, of: entry, timeout: .seconds(60))
    if end.state == .failed { print(end.reason ?? "it did not arrive") }
}

/// Concurrency.
func askAgain(_ stream: XMPPStream, askForPassword: () -> Void) async {
    do {
        try await stream.connect()
    } catch {
        // error is an XMPPError
        if error.code == .authenticationRefused { askForPassword() }
    }
}

/// What others have sent meanwhile.
func goOn(_ configuration: XMPPConfiguration, from place: ArchivePlace?) async throws {
    let client = XMPPClient(configuration, caughtUpTo: place)
    try await client.start()
}
