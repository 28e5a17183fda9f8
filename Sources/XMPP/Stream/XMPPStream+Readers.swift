// SPDX-License-Identifier: Apache-2.0

public import XMPPCore

extension XMPPStream {
    /// How many events wait for a slow loop before its sequence ends; 10,000.
    public static let defaultEventLimit = 10_000

    /// Adds a delegate that hears of the connection and of who is online. It is held weakly.
    public nonisolated func add(chatDelegate delegate: any ChatDelegate) {
        hub.add(delegate, roles: .chat)
    }

    /// Adds a delegate that hears of messages. It is held weakly.
    public nonisolated func add(messageDelegate delegate: any MessageDelegate) {
        hub.add(delegate, roles: .message)
    }

    /// Removes a delegate from both roles: a call that is under way still ends, and is the last.
    public nonisolated func remove(delegate: any AnyObject & Sendable) {
        hub.remove(delegate)
    }

    /// Everything that happens from now on.
    public nonisolated var events: EventSequence<XMPPEvent> {
        events(limit: Self.defaultEventLimit)
    }

    /// Everything that happens from now on.
    ///
    /// - Parameter limit: How many events may wait before the sequence ends with ``XMPPError/Code/overflow``.
    public nonisolated func events(limit: Int) -> EventSequence<XMPPEvent> {
        EventSequence(hub.subscribe(limit: limit)) { $0.event }
    }

    /// The messages that arrive from now on; bounces are not among them.
    public nonisolated var messages: EventSequence<Message> {
        EventSequence(hub.subscribe(limit: Self.defaultEventLimit)) { delivery in
            if case .message(let message) = delivery.event { message } else { nil }
        }
    }

    /// The presence stanzas that arrive from now on.
    public nonisolated var presences: EventSequence<Presence> {
        EventSequence(hub.subscribe(limit: Self.defaultEventLimit)) { delivery in
            if case .presence(let presence) = delivery.event { presence } else { nil }
        }
    }
}
