// SPDX-License-Identifier: Apache-2.0

internal import JabberControl

/// A chat as it is shown: what events and own messages look like, and what stands before the line that is written.
/// Touches nothing.
struct Conversation: Sendable {
    /// Whom to talk to: a contact's bare address, an occupant's, or a room's.
    let peer: String
    let isRoom: Bool
    /// Names and times as they are shown.
    private let colours: ChatColours
    private let localTime: @Sendable (String) -> String

    /// How far the last of the own messages has come.
    private enum Mark: Int, Sendable {
        case onItsWay, server, device, read

        var text: String {
            switch self {
            case .onItsWay: " ·"
            case .server: " ✓"
            case .device, .read: " ✓✓"
            }
        }
    }

    /// The nicknames in the room.
    private(set) var occupants: Set<String> = []
    /// The id of the last message of the own ones, and what it says; of the last of the others.
    private(set) var lastOwn: (id: String, text: String)?
    private(set) var lastOther: String?
    /// The id of what was sent last, and how far it has come.
    private var markedID: String?
    private var mark: Mark?
    private var isPeerTyping = false
    private var presence = ""
    /// The ids of what was said here: it comes back as an event.
    private var own: Set<String> = []

    init(
        with peer: String, isRoom: Bool, colours: ChatColours, localTime: @escaping @Sendable (String) -> String
    ) {
        self.peer = peer
        self.isRoom = isRoom
        self.colours = colours
        self.localTime = localTime
    }

    /// What stands before the line.
    var prompt: String {
        let name = TerminalText.line(String(peer.unicodeScalars.prefix { $0 != "@" }))
        let count = isRoom && !occupants.isEmpty ? " (\(occupants.count))" : ""
        let mark = mark.map { $0 == .read ? colours.paint($0.text, .good) : $0.text } ?? ""
        let typing = isPeerTyping ? colours.paint(" is typing…", .faint) : ""
        return colours.paint(name, .strong) + count + mark + typing + "> "
    }

    // MARK: What happens

    /// Takes an event in.
    ///
    /// - Returns: The lines that it makes; none for what concerns somebody else.
    mutating func take(_ event: JSONObject) -> [String] {
        guard concerns(event) else { return [] }
        switch event.string("type") {
        case "message": return message(event)
        case "state":
            isPeerTyping = event.string("state") == "composing"
            return []
        case "receipt", "marker":
            guard let markedID, event.string("id") == markedID else { return [] }
            raise(event.string("type") == "marker" ? .read : .device)
            return []
        case "presence":
            let text = EventText.text(event)
            defer { presence = text }
            return text == presence ? [] : [note(event)]
        case "room":
            room(event)
            let saysNothing = event.string("event") == "subject" && event.string("subject")?.isEmpty != false
            return saysNothing || event.string("event") == "occupantChanged" ? [] : [note(event)]
        default: return [note(event)]
        }
    }

    private func concerns(_ event: JSONObject) -> Bool {
        if event.string("type") == "account" || event.string("type") == "gap" { return true }
        if isRoom { return event.string("room") == peer }
        let other = event.string("direction") == "out" ? event.string("to") : event.string("from")
        return other == peer || other.map(ShallowAddress.bare) == peer
    }

    private mutating func message(_ event: JSONObject) -> [String] {
        if event["error"] != nil {
            return [time(event) + colours.paint(TerminalText.block(EventText.text(event)), .bad)]
        }
        let isOwn = event.string("direction") == "out"
        let id = event.string("id")
        if isOwn, let id, own.contains(id) {
            if markedID == id { raise(.server) }
            // What was typed here is shown already, but for a room, which says in which order.
            guard isRoom else { return [] }
        }
        if !isOwn {
            isPeerTyping = false
            // In a room the name that the room has given it counts (XEP-0444 §4.1).
            lastOther = isRoom ? event["stanzaId"]?["id"]?.stringValue ?? id : id
        }
        return [line(event, isOwn: isOwn)]
    }

    /// A message, be it of now or of earlier.
    func line(_ event: JSONObject, isOwn: Bool) -> String {
        let from = event.string("from") ?? peer
        let nickname = event.string("nick") ?? (isRoom ? Self.resource(from) : nil)
        let name =
            isOwn
            ? "Me"
            : TerminalText.line(
                nickname ?? (peer.unicodeScalars.contains("/") ? Self.resource(from) : Self.local(from)))
        let shown = isOwn ? colours.paint(name, .strong) : colours.name(name, event.string("color"))
        let text = EventText.text(event)
        // XEP-0245 §2.
        if text.utf8.starts(with: "/me ".utf8) {
            return time(event) + "* " + shown + " " + TerminalText.block(String(text.unicodeScalars.dropFirst(4)))
        }
        return time(event) + shown + ": " + TerminalText.block(text)
    }

    private func note(_ event: JSONObject) -> String {
        let who = event.string("nick") ?? event.string("from").map(isRoom ? Self.resource : Self.local)
        let name = TerminalText.line(who ?? (event.string("type") == "account" ? event.string("account") ?? "" : ""))
        let text = event.string("event") == "occupantJoined" ? "just joined" : EventText.text(event)
        return time(event) + colours.paint((name.isEmpty ? "" : name + " ") + TerminalText.block(text), .faint)
    }

    private func time(_ event: JSONObject) -> String {
        guard let time = event.string("at").map({ TerminalText.line(localTime($0)) }), !time.isEmpty else { return "" }
        return colours.paint(time, .faint) + " "
    }

    private mutating func room(_ event: JSONObject) {
        let nickname = event.string("nick")
        switch event.string("event") {
        case "joined", "occupantJoined", "occupantChanged": if let nickname { occupants.insert(nickname) }
        case "occupantLeft": if let nickname { occupants.remove(nickname) }
        case "nicknameChanged":
            if let old = event.string("from").map(Self.resource) { occupants.remove(old) }
            if let nickname { occupants.insert(nickname) }
        case "left", "refused": occupants = []
        default: break
        }
    }

    /// Who is in the room.
    mutating func take(occupants names: [String]) {
        occupants.formUnion(names)
    }

    // MARK: What is said

    /// Something is said.
    ///
    /// - Returns: The lines that it makes now.
    mutating func said(_ text: String, id: String, at time: String, replacing: Bool = false) -> [String] {
        if own.count >= Self.maximumOwn { own = [] }
        own.insert(id)
        // A correction goes by the id of what it takes the place of (XEP-0308 §4).
        if !replacing || lastOwn == nil { lastOwn = (id, text) }
        (markedID, mark) = (id, .onItsWay)
        guard !isRoom else { return [] }
        var event: JSONObject = ["type": "message", "at": .string(time), "body": .string(text)]
        if replacing { event["replaces"] = .string(lastOwn?.id ?? "") }
        return [line(event, isOwn: true)]
    }

    /// How many ids of own messages are known; 10,000.
    private static let maximumOwn = 10_000

    /// How far a message has come, in the word of `send`.
    mutating func state(_ word: String?, of id: String) {
        guard markedID == id else { return }
        switch word {
        case "server": raise(.server)
        case "device": raise(.device)
        case "read": raise(.read)
        case "failed", "expired": mark = nil
        default: break
        }
    }

    /// The last of the own messages was removed.
    mutating func retracted() {
        (lastOwn, markedID, mark) = (nil, nil, nil)
    }

    private mutating func raise(_ new: Mark) {
        if new.rawValue > mark?.rawValue ?? -1 { mark = new }
    }

    // MARK: Completion

    /// What the end of a text may become: a command, or somebody in the room.
    func completion(of text: String) -> LineCompletion {
        let word =
            text.unicodeScalars.split(separator: " ", omittingEmptySubsequences: false).last.map { String($0) } ?? ""
        let isFirst = word.unicodeScalars.count == text.unicodeScalars.count
        if isFirst, word.hasPrefix("/") {
            let names = ChatInput.commands.filter { isRoom || !$0.isForRooms }.map { "/\($0.name) " }
            return LineCompletion(length: word.unicodeScalars.count, candidates: names.filter { $0.hasPrefix(word) })
        }
        guard isRoom, !word.isEmpty else { return LineCompletion() }
        let wanted = word.lowercased()
        let names = occupants.filter { $0.lowercased().hasPrefix(wanted) }.map(TerminalText.line).sorted()
        return LineCompletion(length: word.unicodeScalars.count, candidates: names.map { $0 + (isFirst ? ": " : " ") })
    }

    // MARK: Addresses, as far as a name on the screen needs them

    private static func local(_ address: String) -> String {
        let bare = ShallowAddress.bare(address)
        return bare.unicodeScalars.contains("@") ? String(bare.unicodeScalars.prefix { $0 != "@" }) : bare
    }

    private static func resource(_ address: String) -> String {
        let resource = address.unicodeScalars.drop { $0 != "/" }.dropFirst()
        return resource.isEmpty ? local(address) : String(resource)
    }
}
