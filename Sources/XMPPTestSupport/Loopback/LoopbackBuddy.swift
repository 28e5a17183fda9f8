// SPDX-License-Identifier: Apache-2.0

public import XMPPCore

/// Somebody who lives inside a ``LoopbackServer``: is online, answers, and leaves, without a connection of their own.
public struct LoopbackBuddy: Sendable, Hashable {
    /// What a buddy does by themselves.
    public enum Behavior: Sendable, Hashable {
        /// Sends every message back with the same body: to the resource that it came from, or to the account when that
        /// resource has not sent presence.
        case echoes
        /// Goes offline upon a message with exactly this body.
        case leavesWhenTold(String)
        /// Approves every subscription request, and asks for one in return.
        case approvesSubscriptions
    }

    /// Something that happens after a while.
    public struct Appointment: Sendable, Hashable {
        /// How long after the server's start, or after the buddy was added.
        public var delay: Duration
        /// The presence sent then; of kind unavailable to go offline.
        public var presence: Presence

        /// Makes an appointment.
        public init(after delay: Duration, _ presence: Presence) {
            self.delay = delay
            self.presence = presence
        }
    }

    /// The localpart of the account.
    public var username: String
    /// The name under which the server's other accounts have them in their rosters.
    public var name: String?
    /// The groups in which the server's other accounts have them.
    public var groups: [String]
    /// The resource that is online.
    public var resource: String
    /// The presence to begin with; `nil` for somebody who is offline.
    public var presence: Presence?
    /// What they do by themselves.
    public var behaviors: Set<Behavior>
    /// What happens when.
    public var schedule: [Appointment]
    /// Whether they and every account with a password see each other from the start.
    public var isEverybodysFriend: Bool

    /// Makes a buddy; without more words one that is online, echoes, and is everybody's friend.
    public init(
        _ username: String, name: String? = nil, groups: [String] = [], resource: String = "loopback",
        presence: Presence? = Presence(), behaviors: Set<Behavior> = [.echoes], schedule: [Appointment] = [],
        isEverybodysFriend: Bool = true
    ) {
        self.username = username
        self.name = name
        self.groups = groups
        self.resource = resource
        self.presence = presence
        self.behaviors = behaviors
        self.schedule = schedule
        self.isEverybodysFriend = isEverybodysFriend
    }
}
