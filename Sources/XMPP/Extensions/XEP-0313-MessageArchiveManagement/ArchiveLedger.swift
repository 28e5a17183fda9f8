// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPPCore
internal import XMPPXML

/// What the streams of a client know of the account's archive, by the names that it gives to messages (XEP-0359): what
/// was told already, and up to where the archive is known.
final class ArchiveLedger: Sendable {
    /// How many names of messages are remembered, the latest; 5,000.
    static let maximumNames = 5_000
    /// How many messages before the last one the archive is read from; 10. Servers may hand messages out in another
    /// order than the archive's.
    static let overlap = 10

    private struct State {
        /// The names of messages that count as handled, the latest last.
        var handled: [(name: String, at: DateTime)] = []
        var isHandled: Set<String> = []
        /// The names of those that were told on the present connection and do not count yet; ``maximumNames`` at most.
        var told: Set<String> = []
        /// Where the archive was known to end before anything was handled.
        var beginning: ArchivePlace?
    }

    private let account: String
    private let state: Locked<State>

    /// - Parameters:
    ///   - account: Whose archive it is.
    ///   - place: Up to where it is known; `nil` where nothing is.
    init(of account: JID, from place: ArchivePlace?) {
        self.account = account.bare.description
        var state = State(beginning: place)
        // It was told by the run before.
        if let last = place?.last { state.isHandled.insert(last) }
        self.state = Locked(state)
    }

    /// From where to read the archive; `nil` where nothing is known of it.
    var place: ArchivePlace? {
        state.withLock { state in
            // The first messages may be behind what comes later.
            let first = state.handled.count - 1 - Self.overlap
            if first < 0, let beginning = state.beginning { return beginning }
            guard !state.handled.isEmpty else { return nil }
            let entry = state.handled[max(0, first)]
            return ArchivePlace(last: entry.name, at: entry.at)
        }
    }

    /// The last message that counts as handled, or the beginning.
    var last: ArchivePlace? {
        state.withLock { state in
            state.handled.last.map { ArchivePlace(last: $0.name, at: $0.at) } ?? state.beginning
        }
    }

    /// The archive was seen to end here before anything new could come.
    func begin(at place: ArchivePlace) {
        state.withLock { state in
            guard state.beginning == nil, state.handled.isEmpty else { return }
            // Its last message was told to nobody here: the server may be about to hand it over.
            state.beginning = place
        }
    }

    /// A connection begins: what was told on the one before and does not count comes again.
    func connectionBegan() {
        state.withLock { $0.told = [] }
    }

    /// Whether a message is to be told: it is, unless it was told before.
    func tells(_ element: Element) -> Bool {
        guard let name = name(of: element) else { return true }
        return tells(name)
    }

    /// Whether a message with this name is to be told.
    func tells(_ name: String) -> Bool {
        guard name.utf8.count <= ArchivePlace.maximumNameBytes else { return true }
        return state.withLock { state in
            guard !state.isHandled.contains(name) else { return false }
            if state.told.count >= Self.maximumNames { state.told = [] }
            return state.told.insert(name).inserted
        }
    }

    /// A stanza counts as handled. Only the name of a message is one of the archive's: whoever asks for a subscription
    /// could write any into the request, and the message of that name would be told to nobody.
    func handled(_ element: Element) {
        guard element.localName == "message", let name = name(of: element) else { return }
        let delay = element.children.lazy.compactMap { DelayedDelivery($0) }.first
        state.withLock { state in
            state.told.remove(name)
            guard state.isHandled.insert(name).inserted else { return }
            // What the server has kept may be older than the place where the archive ended.
            if state.handled.isEmpty, delay != nil { state.beginning = nil }
            state.handled.append((name, delay?.stamp ?? .now))
            guard state.handled.count >= 2 * Self.maximumNames else { return }
            for old in state.handled.prefix(Self.maximumNames) { state.isHandled.remove(old.name) }
            state.handled.removeFirst(Self.maximumNames)
        }
    }

    /// The name that the archive has given to a message; of a copy, to the one inside. `nil` where there is none, or
    /// more than one.
    private func name(of message: Element) -> String? {
        var found: String?
        for child in message.eachChild {
            if child.name == StanzaID.elementName {
                guard child["by"] == account, let id = child["id"], !id.isEmpty,
                    id.utf8.count <= ArchivePlace.maximumNameBytes
                else { continue }
                guard found == nil else { return nil }
                found = id
            } else if child.namespace == MessageCarbon.namespace, message["from"] == account,
                let forwarded = child.firstChild(
                    ForwardedMessage.elementName.localName, namespace: ForwardedMessage.elementName.namespace),
                let copy = forwarded.firstChild("message", namespace: Namespace.client)
            {
                return name(of: copy)
            }
        }
        return found
    }
}
