// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPProtocol

extension XMPPConfiguration {
    /// What the machine of a stream is told.
    var stream: StreamConfiguration {
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
            keepalive: keepalive, timeouts: timeouts, random: random)
    }
}
