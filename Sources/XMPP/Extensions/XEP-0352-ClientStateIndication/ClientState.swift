// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPXML

/// Client State Indication (XEP-0352).
public enum ClientState {
    /// The namespace of the stream feature and of both elements.
    public static let namespace = "urn:xmpp:csi:0"
    /// What tells that nobody looks.
    static let inactive = Element("inactive", namespace: namespace)
}

extension XMPPStream {
    /// Tells the server whether anybody looks at this client, so that it may hold back what can wait (XEP-0352 §4). A
    /// new session is active; a resumed one is what it was.
    ///
    /// - Parameter isActive: Whether anybody looks.
    /// - Returns: Whether the server was told: one that does not know how is not.
    /// - Throws: ``XMPPError`` as ``send(_:)-(Element)``.
    @discardableResult
    public func setActive(_ isActive: Bool) async throws(XMPPError) -> Bool {
        guard features?.element.firstChild("csi", namespace: ClientState.namespace) != nil else { return false }
        try await send(isActive ? Element("active", namespace: ClientState.namespace) : ClientState.inactive)
        return true
    }

    /// Has it said together with the next binding of a resource that nobody looks, where the server can do that
    /// (XEP-0386 §3.2).
    func wishForInactivity() {
        inlineWishes.append(InlineFeature(name: ClientState.namespace, request: ClientState.inactive))
    }

    /// Says that nobody looks, unless the binding of the resource has said so.
    func beginInactive() async throws(XMPPError) {
        guard !inlineFeatures.contains(ClientState.namespace) else { return }
        try await setActive(false)
    }
}
