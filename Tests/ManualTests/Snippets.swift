// SPDX-License-Identifier: Apache-2.0

import XMPP

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
func sendFromTheReadme() async throws {
    let account = XMPPConfiguration(jid: try JID("juliet@example.org"), password: "secret")
    try await sendOneMessage("Wherefore art thou?", to: try JID("romeo@example.net"), as: account)
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
func openTheWindow(_ account: XMPPConfiguration) async throws {
    let client = XMPPClient(account)
    let window = Window()
    client.add(chatDelegate: window)
    client.add(messageDelegate: window)
    try await client.run()
}

/// Getting started.
func sendFromTheArticle() async throws {
    let juliet = try JID("juliet@example.org")
    let stream = XMPPStream(XMPPConfiguration(jid: juliet, password: "secret"))
    try await stream.connect()
    try await stream.send(Message(to: try JID("romeo@example.net"), body: "Wherefore art thou?"))
    try await stream.waitUntilHandled()
    await stream.disconnect()
}

/// Getting started.
func sendOrSayWhyNot() async throws {
    func sayHello() async throws {
        let account = XMPPConfiguration(jid: try JID("juliet@example.org"), password: "secret")
        try await sendOneMessage("Wherefore art thou?", to: try JID("romeo@example.net"), as: account)
    }

    do {
        try await sayHello()
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

/// Concurrency.
func askAgain(_ stream: XMPPStream, askForPassword: () -> Void) async {
    do {
        try await stream.connect()
    } catch {
        // error is an XMPPError
        if error.code == .authenticationRefused { askForPassword() }
    }
}
