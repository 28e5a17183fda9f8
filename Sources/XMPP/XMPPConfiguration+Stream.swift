// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPCrypto
internal import XMPPProtocol

extension XMPPConfiguration {
    /// What the machine of a stream is told.
    ///
    /// - Parameters:
    ///   - isResumable: Whether the server is asked to keep the session when the connection is lost.
    ///   - memory: What earlier logins left.
    ///   - inlineFeatures: What to switch on together with the binding, where the server can do that.
    ///   - isCautious: Whether nothing is sent before the server has offered it on this connection.
    func stream(
        isResumable: Bool, memory: LoginMemory? = nil, inlineFeatures: [InlineFeature] = [], isCautious: Bool = true
    ) -> StreamConfiguration {
        var policy = SASLPolicy()
        policy.allowsPlain = allowsPlain
        policy.hasUsedSCRAM = hasUsedSCRAM || memory?.hasUsedSCRAM == true
        policy.hasUsedChannelBinding = memory?.hasUsedChannelBinding == true
        policy.allowsWeakerLogin = allowsWeakerLogin
        let credentials: SASLCredentials
        if looksOnly {
            credentials = .nobody
        } else if let localpart = jid.localpart {
            credentials = .account(
                SASLAccount(
                    username: localpart, password: password?.secret, keys: password?.keptKeys,
                    accessToken: accessToken?.secret,
                    showsCertificate: clientCertificate != nil,
                    address: jid.bare.description))
        } else {
            credentials = .anonymous
        }
        var authentication = SASLAuthentication(credentials: credentials, policy: policy)
        authentication.token = memory?.token
        authentication.wantsToken = memory != nil && usesTokens
        authentication.endsToken = endsToken
        authentication.time = .now
        var stream = StreamConfiguration(
            account: jid, resource: jid.resourcepart,
            authentication: authentication, security: securityPolicy,
            language: language, sessionLimits: limits, usesStreamManagement: usesStreamManagement,
            isResumable: isResumable, usesSASL2: usesSASL2,
            userAgent: memory.map { UserAgent(id: $0.userAgentID, software: software.name) },
            bindTag: jid.resourcepart ?? software.name, inlineFeatures: inlineFeatures, keepalive: keepalive,
            timeouts: timeouts, random: random)
        stream.isForRegistration = isForRegistration
        stream.passesOverOversized = memory?.passesOverOversized(at: .now) == true
        if !isCautious { stream.expected = memory?.offered }
        return stream
    }
}

extension XMPPConfiguration {
    /// A new id for a stanza, which nobody can guess.
    package func newStanzaID() -> String { random.identifier() }
}
