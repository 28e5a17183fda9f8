// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPXML

extension Room {
    /// Asks the room whether the user is still in it (XEP-0410): a service that was started anew, or that lost a
    /// connection, may have forgotten without a word.
    ///
    /// - Returns: Whether the user is; `nil` when that cannot be known now, as when the service does not answer.
    /// - Throws: ``XMPPError/Code/notConnected`` when the user is known to be outside.
    public func isPresenceKnown() async throws(XMPPError) -> Bool? {
        let stream = try stream()
        let address = try address(of: nickname)
        do {
            try await stream.request(IQ(.get, to: address, payload: Element("ping", namespace: Namespace.ping)))
            return true
        } catch {
            guard let condition = error.stanzaError?.condition else { return nil }
            switch condition {
            // XEP-0410 §3.1: another client of the user's answered, in its way; or nobody of this nickname is there any
            // more.
            case .serviceUnavailable, .featureNotImplemented: return true
            case .itemNotFound: return true
            case .remoteServerNotFound, .remoteServerTimeout: return nil
            // Not acceptable: the user is outside. So it is for everything else.
            default: return false
            }
        }
    }
}

extension XMPPStream {
    /// Asks every room whether the user is still in it, and enters those again that have forgotten (XEP-0410).
    ///
    /// - Returns: The rooms that were entered again.
    @discardableResult
    public func checkRooms() async -> [Room] {
        var forgotten: [Room] = []
        for room in joinedRooms where (try? await room.isPresenceKnown()) == false {
            room.forgotUser()
            forgotten.append(room)
        }
        if !forgotten.isEmpty { await rejoinRooms() }
        return forgotten
    }
}
