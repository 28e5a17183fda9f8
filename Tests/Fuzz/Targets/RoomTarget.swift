// SPDX-License-Identifier: Apache-2.0

import XMPPCore
import XMPPXML

@testable import XMPP

extension FuzzTarget {
    private static func presence(_ nick: String, _ codes: [Int] = [], _ more: String = "") -> String {
        "<presence from='r@b/\(nick)' \(more)><x xmlns='http://jabber.org/protocol/muc#user'><item affiliation='owner' "
            + "role='moderator' jid='a@b/c' nick='new'><reason>why</reason><actor nick='x'/></item>"
            + codes.map { "<status code='\($0)'/>" }.joined() + "</x></presence>"
    }

    private static let visit = [
        presence("witch"), presence("me", [110, 201]), presence("witch", [303], "type='unavailable'"),
        "<message from='r@b/witch' type='groupchat' id='1'><body>hi</body><delay xmlns='urn:xmpp:delay' from='r@b' "
            + "stamp='2026-01-02T03:04:05Z'/><stanza-id xmlns='urn:xmpp:sid:0' by='r@b' id='s'/></message>",
        "<message from='r@b' type='groupchat'><x xmlns='http://jabber.org/protocol/muc#user'><status code='104'/></x>"
            + "</message>",
        "<message from='r@b/new' type='groupchat'><subject>s</subject></message>",
        presence("me", [303, 110], "type='unavailable'"), presence("new", [307], "type='unavailable'"), "out",
        "join me",
        "<presence from='r@b/me' type='error'><error type='cancel'><conflict xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/>"
            + "</error></presence>",
        presence("me_", [110]),
        "<presence from='r@b/me_' type='unavailable'><x xmlns='http://jabber.org/protocol/muc#user'><destroy jid='q@b'>"
            + "<reason>gone</reason></destroy></x></presence>",
    ]

    /// What a room sends, a stanza on each line, between `join NICKNAME` and `out` (XEP-0045): who is there, and what
    /// is told.
    static let room = FuzzTarget(
        name: "room", seeds: { [Array(visit.joined(separator: "\n").utf8)] + visit.map { Array($0.utf8) } }
    ) { bytes in
        var state = RoomState(try JID("r@b"), nickname: "me")
        state.join(as: "me")
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            if line == "out" {
                let wasIn = state.phase == .joined
                try require((state.disconnected() != nil) == wasIn, "a departure is told where nobody was")
            } else if line.hasPrefix("join ") {
                state.join(as: String(line.dropFirst(5)))
            } else if let element = try? Element.parse(Array(line.utf8)) {
                if let presence = try? Presence(element) { try check(presence, in: &state) }
                if let message = try? Message(element) { try check(message, in: &state) }
            }
            try checkRoom(state)
        }
    }

    private static func checkRoom(_ state: RoomState) throws {
        try require((state.me != nil) == (state.phase == .joined), "in the room, and not among those in it")
        try require(
            state.phase != .outside || state.occupants.count == 0, "somebody is in a room that nobody looks at")
        try require(
            state.occupants.all.allSatisfy { state.occupants[$0.nickname] == $0 }, "an occupant under another's name")
    }

    private static func check(_ presence: Presence, in state: inout RoomState) throws {
        let before = state
        for step in state.received(presence) {
            guard case .event(let event) = step else {
                try require(before.phase == .joining, "\(step), though not on the way in")
                continue
            }
            switch event {
            case .joined(let occupant): try require(state.me == occupant && before.me == nil, "\(occupant) came in")
            case .refused: try require(before.phase == .joining && state.phase == .outside, "refused while inside")
            case .occupantJoined(let occupant):
                let isNew = before.occupants[occupant.nickname] == nil && state.occupants[occupant.nickname] == occupant
                try require(before.phase == .joined && isNew, "\(occupant) came twice")
            case .occupantChanged(let occupant):
                try require(before.occupants[occupant.nickname] != nil, "\(occupant) changed, who was not there")
            case .occupantLeft(let occupant, _):
                try require(state.occupants[occupant.nickname] == nil, "\(occupant) has left, and is there")
            case .nicknameChanged(let old, let occupant):
                try require(before.occupants[old] != nil, "\(old) has another name, and was not there")
                try require(state.occupants[occupant.nickname] == occupant, "the new name of \(old)")
            case .left: try require(before.phase != .outside && state.phase == .outside, "left, and still there")
            case .message, .subject, .configurationChanged: throw BrokenRule(description: "\(presence) says \(event)")
            }
        }
    }

    private static func check(_ message: Message, in state: inout RoomState) throws {
        let before = state
        guard let event = state.received(message, now: .seconds(1)) else { return }
        try require(before.phase == .joined && before.occupants == state.occupants, "\(message) in \(before.phase)")
        guard case .message(let first) = event, first.isHistory else { return }
        try require(state.received(message, now: .seconds(2)) == nil, "\(message) is told twice")
    }
}
