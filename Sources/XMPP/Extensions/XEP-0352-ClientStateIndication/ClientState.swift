// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPXML

/// Client State Indication (XEP-0352).
public enum ClientState {
    /// The namespace of the stream feature and of both elements.
    public static let namespace = "urn:xmpp:csi:0"
}

extension XMPPStream {
    /// Tells the server whether anybody looks at this client, so that it may hold back what can wait (XEP-0352 §4). A new
    /// session is active; a resumed one is what it was.
    ///
    /// - Parameter isActive: Whether anybody looks.
    /// - Returns: Whether the server was told: one that does not know how is not.
    /// - Throws: ``XMPPError`` as ``send(_:)-(Element)``.
    @discardableResult
    public func setActive(_ isActive: Bool) async throws(XMPPError) -> Bool {
        guard features?.element.firstChild("csi", namespace: ClientState.namespace) != nil else { return false }
        try await send(Element(isActive ? "active" : "inactive", namespace: ClientState.namespace))
        return true
    }
}
