// SPDX-License-Identifier: Apache-2.0

internal import SocketIO

/// Calls one delegate, one event after another, from a task of its own. Refers to the delegate weakly: when it is gone,
/// the pump ends.
final class DelegatePump: Sendable {
    /// Which of the protocols an object was added for.
    struct Roles: OptionSet, Sendable {
        let rawValue: Int
        static let chat = Roles(rawValue: 1)
        static let message = Roles(rawValue: 2)
        static let room = Roles(rawValue: 4)
    }

    /// A weak reference that is set once, before the pump's task starts.
    private struct Target: Sendable {
        weak let object: (any AnyObject & Sendable)?
    }

    let queue: EventQueue
    private let target: Target
    private let roles: Locked<Roles>

    init(_ delegate: any AnyObject & Sendable, roles: Roles, onDrain: @escaping @Sendable () -> Void) {
        queue = EventQueue(
            limit: EventHub.maximumDelegateBacklog, maximumBytes: EventHub.maximumDelegateBacklogBytes,
            overflow: .pausesReading, onDrain: onDrain)
        target = Target(object: delegate)
        self.roles = Locked(roles)
        Task { [self] in await run() }
    }

    /// Whether the delegate still exists.
    var isAlive: Bool { target.object != nil }

    /// Adds a role.
    func add(_ roles: Roles) {
        self.roles.withLock { $0.formUnion(roles) }
    }

    /// Ends the pump: a call that is under way still ends, nothing that waits is delivered.
    func stop() {
        roles.withLock { $0 = [] }
        queue.discard()
    }

    private func run() async {
        while let batch = try? await queue.next() {
            guard let object = target.object else {
                queue.discard()
                return
            }
            // A cast costs more than a call: once for a batch. The delegate lives as long as it.
            let chat = object as? any ChatDelegate
            let message = object as? any MessageDelegate
            let rooms = object as? any RoomDelegate
            for delivery in batch {
                let roles = roles.withLock { $0 }
                if case .room(let room, let event) = delivery.event {
                    if roles.contains(.room), let rooms { await deliver(event, of: room, to: rooms) }
                } else if delivery.event.concernsMessages {
                    if roles.contains(.message), let message { await deliver(delivery, to: message) }
                } else {
                    if roles.contains(.chat), let chat { await deliver(delivery, to: chat) }
                }
            }
        }
    }

    private func deliver(_ event: RoomEvent, of room: Room, to delegate: any RoomDelegate) async {
        if case .message(let message) = event {
            await delegate.room(room, didReceive: message)
        } else {
            await delegate.room(room, didReport: event)
        }
    }

    private func deliver(_ delivery: EventDelivery, to delegate: any ChatDelegate) async {
        let stream = delivery.stream
        switch delivery.event {
        case .connected: await delegate.streamDidConnect(stream)
        case .serverKeyChanged(let change): await delegate.stream(stream, serverDidChangeKey: change)
        case .authenticated(let jid): await delegate.stream(stream, didAuthenticateAs: jid)
        case .presence(let presence): await delegate.stream(stream, didReceive: presence)
        case .buddyCameOnline(let buddy): await delegate.stream(stream, buddyCameOnline: buddy)
        case .buddyChanged(let buddy): await delegate.stream(stream, buddyChanged: buddy)
        case .buddyWentOffline(let buddy): await delegate.stream(stream, buddyWentOffline: buddy)
        case .subscriptionRequest(let request):
            await delegate.stream(stream, didReceiveSubscriptionRequest: request)
        case .roster(let update): await delegate.stream(stream, didUpdateRoster: update)
        case .interrupted(let error): await delegate.streamWasInterrupted(stream, error: error)
        case .resumed: await delegate.streamDidResume(stream)
        case .notResumed(let outcome): await delegate.stream(stream, didNotResume: outcome)
        case .disconnected(let error): await delegate.streamDidDisconnect(stream, error: error)
        case .blockList(let change): await delegate.stream(stream, didUpdateBlockList: change)
        case .message, .oversized, .messageBounced, .receipt, .displayed, .carbon, .invitation, .room: break
        }
    }

    private func deliver(_ delivery: EventDelivery, to delegate: any MessageDelegate) async {
        let stream = delivery.stream
        switch delivery.event {
        case .message(let message): await delegate.stream(stream, didReceive: message)
        case .oversized(let stanza): await delegate.stream(stream, didNotRead: stanza)
        case .messageBounced(let message, let error):
            await delegate.stream(stream, didBounce: message, error: error)
        case .receipt(let id, let jid): await delegate.stream(stream, didReceiveReceiptFor: id, from: jid)
        case .displayed(let id, let jid): await delegate.stream(stream, didDisplayUpTo: id, from: jid)
        case .carbon(let carbon): await delegate.stream(stream, didReceive: carbon)
        case .invitation(let invitation): await delegate.stream(stream, didReceive: invitation)
        case .connected, .serverKeyChanged, .authenticated, .presence, .buddyCameOnline, .buddyChanged,
            .buddyWentOffline,
            .subscriptionRequest, .roster, .room, .blockList, .interrupted, .resumed, .notResumed, .disconnected:
            break
        }
    }
}
