// SPDX-License-Identifier: Apache-2.0

import ExampleSupport
import XMPP

/// Owns the stream and the two views, and hands what the user types to the view that it is for.
///
/// The stream is an actor of its own; the views live on the main actor, as those of an app with windows would.
@MainActor
final class AppDelegate {
    /// What can be typed, apart from what is said to a buddy.
    static let help = """
        a number  chat with that buddy        /list  show who is online
        /close    leave the chat              /quit  leave
        /add ADDRESS                          ask to see when somebody is online
        /accept ADDRESS, /deny ADDRESS        answer somebody who asks the same of you
        """

    private let stream: XMPPStream
    private let screen: Screen
    private let buddyList: BuddyListView
    private let chat: ChatView

    init(_ configuration: XMPPConfiguration, screen: Screen) {
        self.screen = screen
        stream = XMPPStream(configuration)
        buddyList = BuddyListView(screen: screen)
        chat = ChatView(stream: stream, screen: screen)
        // Delegates are held weakly: this object is what keeps the views.
        stream.add(chatDelegate: buddyList)
        stream.add(messageDelegate: chat)
    }

    /// Goes online, obeys what is typed until `/quit` or the end of the input, and goes offline.
    ///
    /// - Throws: ``XMPPError`` when the stream cannot be had or ends by itself.
    func run(typed lines: AsyncStream<String>) async throws {
        // Asked for before anything happens, so that the end is not missed.
        let events = stream.events
        try await stream.connect()
        // The roster first, so that every presence that comes in finds a name; then the presence that lets others' come
        // in.
        try await stream.goOnline()
        screen.show(Self.help)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.obey(lines) }
            group.addTask { try await self.untilDisconnected(events) }
            // Whichever comes first ends the other: the user leaves, or the server does.
            defer { group.cancelAll() }
            try await group.next()
        }
        await stream.disconnect()
    }

    private func untilDisconnected(_ events: EventSequence<XMPPEvent>) async throws {
        for try await case .disconnected(let error?) in events { throw error }
    }

    private func obey(_ lines: AsyncStream<String>) async throws {
        for await line in lines where !line.isEmpty {
            guard line != "/quit" else { return }
            do {
                try await obey(line)
            } catch {
                screen.show("! \("\(error)".printable(limit: 400))")
            }
        }
    }

    private func obey(_ line: String) async throws {
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        switch (words.first ?? "", words.dropFirst().first) {
        case ("/list", nil):
            buddyList.showTable()
        case ("/close", nil):
            chat.close()
        case ("/add", let address?):
            try await stream.requestSubscription(to: try JID(address))
        case ("/accept", let address?):
            try await stream.approveSubscription(of: try JID(address))
        case ("/deny", let address?):
            try await stream.denySubscription(of: try JID(address))
        case (let command, _) where command.hasPrefix("/"):
            screen.show(Self.help)
        case (let number, nil) where !chat.isOpen && Int(number) != nil:
            guard let buddy = buddyList.row(Int(number)) else { return screen.show("! there is no row \(number)") }
            chat.open(with: buddy)
        default:
            try await chat.say(line)
        }
    }
}
