// SPDX-License-Identifier: Apache-2.0

/// How far a message has come.
public enum DeliveryState: String, Sendable, Hashable, CaseIterable {
    /// It is kept here and waits for a session.
    case queued
    /// It was written to the server.
    case sent
    /// The server has it (XEP-0198, or a round trip behind it); of a message to a room, the room has sent it back.
    case server
    /// A client of the addressee has it (XEP-0184).
    case device
    /// The addressee has seen it (XEP-0333).
    case read
    /// It came back, or was refused, or called off.
    case failed
    /// Its time ran out before it was sent.
    case expired

    /// Whether news lead on from here. A late error does not undo what the addressee has confirmed, and a late receipt
    /// overrules an error: it proves that the message arrived all the same. What has expired was never sent.
    public func leads(to news: DeliveryState) -> Bool {
        switch self {
        case .expired, .read: false
        case .queued: news != .queued
        case .failed: news == .device || news == .read
        case .device: news == .read
        case .sent: news == .server || news == .device || news == .read || news == .failed
        case .server: news == .device || news == .read || news == .failed
        }
    }

    /// Whether this is at least as far as what somebody waits for.
    public func reaches(_ level: DeliveryState) -> Bool {
        self == level || !isFinal && !level.isFinal && level.leads(to: self)
    }

    /// Whether the message has ended without reaching its addressee, as far as is known.
    public var isFinal: Bool { self == .failed || self == .expired }
}
