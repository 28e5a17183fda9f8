// SPDX-License-Identifier: Apache-2.0

import ExampleSupport
import XMPP

/// The table of the buddies that are online: a row comes when a buddy does, and goes with it.
@MainActor
final class BuddyListView: ChatDelegate {
    private let screen: Screen
    /// The rows, by name and address as they are shown.
    private var rows: [Buddy] = []

    init(screen: Screen) {
        self.screen = screen
    }

    /// The buddy in a row; rows are counted from 1.
    func row(_ number: Int?) -> Buddy? {
        guard let number, rows.indices.contains(number - 1) else { return nil }
        return rows[number - 1]
    }

    /// Shows the whole table.
    func showTable() {
        guard !rows.isEmpty else { return screen.show("Nobody is online.") }
        for (index, buddy) in rows.enumerated() { screen.show("\(index + 1)  \(buddy.row)") }
    }

    // MARK: ChatDelegate

    func stream(_ stream: XMPPStream, didAuthenticateAs jid: JID) async {
        screen.show("Online as \(jid.description.printable())")
    }

    func stream(_ stream: XMPPStream, buddyCameOnline buddy: Buddy) async {
        rows.append(buddy)
        sort()
        screen.show("+ \(buddy.row)")
    }

    func stream(_ stream: XMPPStream, buddyChanged buddy: Buddy) async {
        guard let index = rows.firstIndex(where: { $0.jid == buddy.jid }) else { return }
        let before = rows[index].row
        rows[index] = buddy
        sort()
        // A second client of the buddy, say, changes nothing that is shown.
        if buddy.row != before { screen.show("~ \(buddy.row)") }
    }

    func stream(_ stream: XMPPStream, buddyWentOffline buddy: Buddy) async {
        rows.removeAll { $0.jid == buddy.jid }
        screen.show("- \(buddy.shownName)")
    }

    func stream(_ stream: XMPPStream, didReceiveSubscriptionRequest request: Presence) async {
        guard let address = request.from?.bare.description.printable() else { return }
        screen.show("? \(address) asks to see when you are online: /accept \(address) or /deny \(address)")
    }

    func streamDidDisconnect(_ stream: XMPPStream, error: XMPPError?) async {
        rows = []
        screen.show("Offline.")
    }

    private func sort() {
        rows.sort { ($0.displayName.lowercased(), $0.jid) < ($1.displayName.lowercased(), $1.jid) }
    }
}

extension Buddy {
    /// The name, printable.
    var shownName: String { displayName.printable(limit: 40) }

    /// The row of the table: name, show and status.
    fileprivate var row: String {
        let presence = best?.presence
        var row = "\(shownName)  \(presence?.show?.words ?? "online")"
        if let status = presence?.status, !status.isEmpty { row += "  “\(status.printable())”" }
        return row
    }
}

extension Presence.Show {
    fileprivate var words: String {
        switch self {
        case .away: "away"
        case .chat: "free for chat"
        case .dnd: "do not disturb"
        case .xa: "away for long"
        }
    }
}
