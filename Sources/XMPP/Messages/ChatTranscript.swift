// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore

/// What was said in one conversation, as it stands: corrections, retractions and reactions are applied to the messages
/// that they concern, if whoever sent them may.
///
/// ```swift
/// var transcript = ChatTranscript()
/// transcript.add(ChatMessage(message, account: account))
/// for entry in transcript.entries { print(entry.text ?? "(removed)", entry.isEdited ? "(edited)" : "") }
/// ```
public struct ChatTranscript: Sendable, Hashable {
    /// How many senders' reactions are kept for one message; 1,000. Those of further senders are passed over.
    public static let maximumReactingSenders = 1_000

    /// One thing that was said.
    public struct Entry: Sendable, Hashable {
        /// The message as it first came.
        public let original: ChatMessage
        /// The message that has taken its place last; `nil` where none has.
        public internal(set) var correction: ChatMessage?
        /// Who has removed it: its sender, or a moderator.
        public internal(set) var retraction: ChatMessage?
        /// The reactions of each sender: by account in a conversation of two, by occupant in a room.
        public internal(set) var reactions: [String: [String]] = [:]
        /// Whether its reader's side has displayed it (XEP-0333).
        public internal(set) var isDisplayed = false

        /// What there is to read; `nil` when it was removed.
        public var text: String? { isRetracted ? nil : (correction ?? original).text }
        /// Whether the text is another one than it was at first: people are to see that (XEP-0308 §5).
        public var isEdited: Bool { correction != nil }
        /// Whether it was removed.
        public var isRetracted: Bool { retraction != nil || original.isRetracted }
        /// How many senders have reacted in each way.
        public var reactionCounts: [String: Int] {
            var counts: [String: Int] = [:]
            for emoji in reactions.values.joined() { counts[emoji, default: 0] += 1 }
            return counts
        }
    }

    /// What a message did.
    public enum Change: Sendable, Hashable {
        /// It is a new entry, at this place.
        case added(Int)
        /// It changed the entry at this place.
        case changed(Int)
        /// It changed nothing: it has nothing to show, or concerns a message that is not there or not its sender's.
        case none
    }

    /// How many entries are kept; the oldest go first.
    public let maximumEntries: Int
    /// What was said, oldest first.
    public private(set) var entries: [Entry] = []

    /// Makes an empty transcript.
    ///
    /// - Parameter maximumEntries: How many entries are kept; at least 1.
    public init(maximumEntries: Int = 1_000) {
        self.maximumEntries = max(1, maximumEntries)
    }

    /// Takes a message of the conversation.
    ///
    /// A correction of what is not there, or of what somebody else has said, is shown as a message of its own: it was
    /// said all the same. A retraction of such, and reactions to such, do nothing.
    @discardableResult
    public mutating func add(_ message: ChatMessage) -> Change {
        if message.message.retraction != nil {
            // One that does not count is not a message either: its text is a stand-in.
            guard message.retraction != nil, let place = place(where: { message.revises($0) }) else { return .none }
            entries[place].retraction = message
            entries[place].correction = nil
            entries[place].reactions = [:]
            return .changed(place)
        }
        if let reactions = message.reactions {
            guard let place = place(where: { $0.referenceID == reactions.id || $0.message.id == reactions.id }),
                entries[place].original.conversation == message.conversation
            else { return .none }
            return react(reactions.emoji, by: Self.reactor(message), at: place)
        }
        if message.isCorrection, let place = place(where: { message.revises($0) }), !entries[place].isRetracted {
            entries[place].correction = message
            return .changed(place)
        }
        guard message.text != nil || !message.attachments.isEmpty || message.isRetracted else { return .none }
        entries.append(Entry(original: message))
        if entries.count > maximumEntries { entries.removeFirst(entries.count - maximumEntries) }
        return .added(entries.count - 1)
    }

    /// Notes that the other side has displayed what was sent, up to a message.
    ///
    /// - Returns: Whether the message is there.
    @discardableResult
    public mutating func displayed(upTo id: String) -> Bool {
        guard let place = place(where: { $0.referenceID == id || $0.message.id == id }) else { return false }
        for index in entries[...place].indices where entries[index].original.isOutgoing {
            entries[index].isDisplayed = true
        }
        return true
    }

    private mutating func react(_ emoji: [String], by sender: String, at place: Int) -> Change {
        guard !entries[place].isRetracted else { return .none }
        let isKnown = entries[place].reactions[sender] != nil
        guard isKnown || entries[place].reactions.count < Self.maximumReactingSenders else { return .none }
        entries[place].reactions[sender] = emoji.isEmpty ? nil : emoji
        return .changed(place)
    }

    private static func reactor(_ message: ChatMessage) -> String {
        guard message.message.kind == .groupchat else { return message.sender.bare.description }
        // Never the same as an address in the room: where the room gives no ids, anybody may write any (XEP-0421 §4).
        return message.message.occupantID.map { "\(message.conversation) \($0)" } ?? message.sender.description
    }

    /// The latest entry that is meant: ids are not unique for ever.
    private func place(where isMeant: (ChatMessage) -> Bool) -> Int? {
        entries.lastIndex { isMeant($0.original) }
    }
}
