// SPDX-License-Identifier: Apache-2.0

internal import XMPPCrypto

extension SASLSelection {
    /// The mechanism, ready for ``SASLMechanism/start()``.
    ///
    /// - Parameters:
    ///   - credentials: those that the selection was made for.
    ///   - advertisement: the offer that the selection was made from.
    ///   - tlsVersion: that of the channel (XEP-0515).
    ///   - nonce: fresh and unpredictable, visible ASCII without comma; used by SCRAM.
    ///   - limits: what SCRAM accepts from the server.
    /// - Throws: ``SASLError`` when the credentials cannot be used with the mechanism.
    package func makeMechanism(
        credentials: SASLCredentials,
        advertisement: SASLAdvertisement,
        tlsVersion: UInt16? = nil,
        nonce: String,
        limits: SCRAMLimits = SCRAMLimits()
    ) throws(SASLError) -> any SASLMechanism {
        let account: SASLAccount
        switch credentials {
        case .anonymous: return AnonymousMechanism()
        case .nobody: throw .missingPassword
        case .account(let known): account = known
        }
        if let scram = SASLMechanismSelector.scram.first(where: { $0.plain == name || $0.plus == name }) {
            return try SCRAMMechanism(
                digest: scram.digest, username: account.username,
                secret: try Self.scramSecret(account, digest: scram.digest),
                authorizationID: account.authorizationID, binding: binding, nonce: nonce,
                advertisement: advertisement, tlsVersion: tlsVersion, limits: limits)
        }
        if name == .external { return ExternalMechanism(authorizationID: account.authorizationID) }
        if name == .oauthBearer {
            guard let token = account.accessToken else { throw .missingPassword }
            return try OAuthBearerMechanism(token: token, authorizationID: account.authorizationID ?? account.address)
        }
        guard let password = account.password else { throw .missingPassword }
        return try PlainMechanism(
            username: account.username, password: password, authorizationID: account.authorizationID)
    }

    private static func scramSecret(_ account: SASLAccount, digest: Digest) throws(SASLError) -> SCRAMSecret {
        let keys = account.keys.flatMap { $0.digest == digest ? $0 : nil }
        if let password = account.password {
            return SCRAMSecret(preparedPassword: try SASLPassword.prepare(password), keys: keys)
        }
        guard let keys else { throw .missingPassword }
        return SCRAMSecret(keys: keys)
    }
}
