// SPDX-License-Identifier: Apache-2.0

public import XMPPCore

/// Where events come from: an ``XMPPStream``, or an ``XMPPClient`` with all the streams of its life.
public protocol EventSource: AnyObject, Sendable {
    /// Those who hear of the events.
    nonisolated var readers: EventReaders { get }
}

/// Those who hear of the events of an ``EventSource``, which has the methods to add and to remove them.
public struct EventReaders: Sendable {
    let hub: EventHub
}

extension EventSource {
    /// Adds a delegate that hears of the connection and of who is online. It is held weakly.
    public nonisolated func add(chatDelegate delegate: any ChatDelegate) {
        readers.hub.add(delegate, roles: .chat)
    }

    /// Adds a delegate that hears of messages. It is held weakly.
    public nonisolated func add(messageDelegate delegate: any MessageDelegate) {
        readers.hub.add(delegate, roles: .message)
    }

    /// Adds a delegate that hears of what happens in rooms. It is held weakly.
    public nonisolated func add(roomDelegate delegate: any RoomDelegate) {
        readers.hub.add(delegate, roles: .room)
    }

    /// Removes a delegate from every role: a call that is under way still ends, and is the last.
    public nonisolated func remove(delegate: any AnyObject & Sendable) {
        readers.hub.remove(delegate)
    }

    /// Everything that happens from now on; of a client, on all sessions.
    public nonisolated var events: EventSequence<XMPPEvent> {
        events(limit: XMPPStream.defaultEventLimit)
    }

    /// Everything that happens from now on; of a client, on all sessions.
    ///
    /// - Parameter limit: How many events may wait before the sequence ends with ``XMPPError/Code/overflow``, as it
    ///   does where the stanzas behind them have more than 64 MiB.
    public nonisolated func events(limit: Int) -> EventSequence<XMPPEvent> {
        EventSequence(readers.hub.subscribe(limit: limit)) { $0.event }
    }

    /// The messages that arrive from now on; bounces are not among them.
    public nonisolated var messages: EventSequence<Message> {
        EventSequence(readers.hub.subscribe(limit: XMPPStream.defaultEventLimit)) { delivery in
            if case .message(let message) = delivery.event { message } else { nil }
        }
    }

    /// The presence stanzas that arrive from now on.
    public nonisolated var presences: EventSequence<Presence> {
        EventSequence(readers.hub.subscribe(limit: XMPPStream.defaultEventLimit)) { delivery in
            if case .presence(let presence) = delivery.event { presence } else { nil }
        }
    }
}

extension XMPPStream: EventSource {
    /// How many events wait for a slow loop before its sequence ends; 10,000.
    public static let defaultEventLimit = 10_000

    /// Those who hear of the stream's events.
    public nonisolated var readers: EventReaders { EventReaders(hub: hub) }
}

extension XMPPClient: EventSource {
    /// Those who hear of the events of all the client's streams.
    public nonisolated var readers: EventReaders { EventReaders(hub: hub) }
}
