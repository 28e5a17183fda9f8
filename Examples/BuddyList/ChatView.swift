// SPDX-License-Identifier: Apache-2.0

import ExampleSupport
import XMPP

/// The conversation: what the user says goes to one buddy at a time, what others say is shown whoever it is.
@MainActor
final class ChatView: MessageDelegate {
    private let stream: XMPPStream
    private let screen: Screen
    private var buddy: Buddy?

    init(stream: XMPPStream, screen: Screen) {
        self.stream = stream
        self.screen = screen
    }

    /// Whether there is somebody to talk to.
    var isOpen: Bool { buddy != nil }

    /// Begins to talk to a buddy.
    func open(with buddy: Buddy) {
        self.buddy = buddy
        screen.show("Chat with \(buddy.shownName), \(buddy.jid.description.printable()); /close ends it.")
    }

    /// Ends the talk.
    func close() {
        buddy = nil
        screen.show("Chat closed.")
    }

    /// Says something to the buddy.
    ///
    /// - Throws: ``XMPPError`` when it cannot be sent.
    func say(_ text: String) async throws {
        guard let buddy else { return screen.show("! pick somebody first: /list, then a number") }
        // To the bare address: the server knows best which of the buddy's clients should have it.
        try await stream.send(Message(to: buddy.jid, body: text))
        screen.show("you: \(text.printableBody)")
    }

    // MARK: MessageDelegate

    func stream(_ stream: XMPPStream, didReceive message: Message) async {
        guard let sender = message.from, let body = message.body else { return }
        screen.show("\(await stream.buddy(sender).shownName): \(body.printableBody)")
    }

    func stream(_ stream: XMPPStream, didBounce message: Message, error: StanzaError) async {
        let addressee = message.from?.description ?? "the server"
        screen.show("! not delivered to \(addressee.printable()): \(error.description.printable())")
    }
}

extension String {
    /// A body, printable. Its later lines stand back from the edge, where names are: none can pass for another
    /// sender's.
    fileprivate var printableBody: String { printable(limit: 4_000, lineBreak: "\n    ") }
}
