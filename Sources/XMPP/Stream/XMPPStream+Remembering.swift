// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPCrypto

extension XMPPStream {
    /// Looks up what earlier logins of the account left. The first login leaves the name of this installation.
    func recall() async {
        guard memory == nil else { return }
        let account = configuration.jid.bare
        if let known = await configuration.loginMemory.memory(of: account) {
            memory = known
        } else {
            let fresh = LoginMemory(userAgentID: configuration.random.uuid())
            memory = fresh
            await configuration.loginMemory.save(fresh, of: account)
        }
    }
}
