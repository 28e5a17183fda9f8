// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPProtocol

extension XMPPConfiguration {
    /// What the machine of a stream is told.
    ///
    /// - Parameters:
    ///   - isResumable: Whether the server is asked to keep the session when the connection is lost.
    ///   - memory: What earlier logins left.
    func stream(isResumable: Bool, memory: LoginMemory? = nil) -> StreamConfiguration {
        var policy = SASLPolicy()
        policy.allowsPlain = allowsPlain
        policy.hasUsedSCRAM = hasUsedSCRAM
        let credentials: SASLCredentials
        if let localpart = jid.localpart {
            credentials = .account(SASLAccount(username: localpart, password: password?.secret))
        } else {
            credentials = .anonymous
        }
        return StreamConfiguration(
            account: jid, resource: jid.resourcepart,
            authentication: SASLAuthentication(credentials: credentials, policy: policy), security: securityPolicy,
            language: language, sessionLimits: limits, usesStreamManagement: usesStreamManagement,
            isResumable: isResumable, usesSASL2: usesSASL2,
            userAgent: memory.map { UserAgent(id: $0.userAgentID, software: software.name) },
            bindTag: jid.resourcepart ?? software.name, keepalive: keepalive, timeouts: timeouts, random: random)
    }
}
