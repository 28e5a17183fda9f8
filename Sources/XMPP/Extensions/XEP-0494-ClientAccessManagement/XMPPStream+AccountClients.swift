// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPXML

extension XMPPStream {
    /// The programs that have access to the account (XEP-0494 §3.1).
    ///
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``.
    public func accountClients() async throws(XMPPError) -> [AccountClient] {
        try await request(
            IQ(.get, payload: Element("list", namespace: AccountClients.namespace)), expecting: AccountClients.self
        ).clients
    }

    /// Takes a program's access to the account away (XEP-0494 §3.2).
    ///
    /// - Parameter id: Its ``AccountClient/id``.
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``; see ``XMPPError/needsNewPassword``.
    public func revokeAccess(of id: String) async throws(XMPPError) {
        let revoke = Element("revoke", namespace: AccountClients.namespace, attributes: ["id": id])
        try await request(IQ(.set, payload: revoke))
    }
}

extension XMPPError {
    /// Whether a program keeps its access because it knows the password: only another password takes that away
    /// (XEP-0494 §3.2, ``XMPPStream/changePassword(to:)``).
    public var needsNewPassword: Bool {
        stanzaError?.applicationCondition?.isNamed("password-reset-required", namespace: AccountClients.namespace)
            == true
    }
}
