// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPCrypto
internal import XMPPProtocol

extension XMPPStream {
    /// Looks up what earlier logins of the account left. The first login leaves the name of this installation.
    func recall() async {
        if let known = await configuration.loginMemory.memory(of: configuration.jid.bare) {
            memory = known
        } else {
            memory = LoginMemory(userAgentID: configuration.random.uuid())
            isMemoryChanged = true
            await saveMemory()
        }
    }

    /// Counts an attempt with the token before it is made: a number that was used must not be used again (XEP-0484 §3.4).
    func prepareToken() async {
        guard var token = memory?.token else { return }
        if token.isValid(at: .now), token.count < .max {
            token.count += 1
            remember { $0.token = token }
        } else {
            remember { $0.token = nil }
        }
        await saveMemory()
    }

    /// Notes what a login has proven: the next one may not be weaker without the user's consent.
    func remember(mechanism: SASLMechanismName) {
        guard mechanism.rawValue.hasPrefix("SCRAM-") else { return }
        let isBound = mechanism.rawValue.hasSuffix("-PLUS")
        guard memory?.hasUsedSCRAM == false || isBound && memory?.hasUsedChannelBinding == false else { return }
        remember { memory in
            memory.hasUsedSCRAM = true
            if isBound { memory.hasUsedChannelBinding = true }
        }
    }

    /// Changes what is left for the next login.
    func remember(_ change: (inout LoginMemory) -> Void) {
        guard var changed = memory else { return }
        change(&changed)
        memory = changed
        isMemoryChanged = true
    }

    /// Saves what has changed.
    func saveMemory() async {
        while isMemoryChanged, let memory {
            isMemoryChanged = false
            await configuration.loginMemory.save(memory, of: configuration.jid.bare)
        }
    }
}
