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

    /// Counts an attempt with the token before it is made: a number that was used must not be used again (XEP-0484
    /// §3.4).
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

    /// Notes what the server has offered on the way to the session. What a resumption together with the login did not
    /// show is as it was.
    func rememberOffer() {
        var offered = machine.offered
        offered.session = offered.session ?? memory?.offered?.session
        // Direct TLS shows nothing before it; STARTTLS will be on another port.
        offered.beforeTLS = offered.beforeTLS ?? memory?.offered?.beforeTLS
        guard offered != memory?.offered else { return }
        remember { $0.offered = offered }
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

extension XMPPError {
    /// Whether a login that had relied on what the server offered before may have failed because of that. A refusal of
    /// the credentials or of the server's own proof has other reasons.
    var mayComeOfHaste: Bool {
        // Nothing that was sent has brought that about.
        if streamError?.condition == .seeOtherHost { return false }
        return switch code {
        case .connectionLost, .timedOut, .streamError, .protocolViolation, .tlsUnavailable: true
        case .hostNotFound, .resolverFailed, .serviceUnavailable, .connectionFailed, .proxyFailed, .tlsFailed,
            .certificateRejected,
            .noMechanism, .channelBindingFailed, .authenticationRefused, .authenticationDeferred,
            .serverNotAuthenticated, .bindingFailed,
            .stanzaError, .notConnected, .invalidStanza, .tooLarge, .overflow, .cancelled, .invalidConfiguration,
            .storageFailed:
            false
        }
    }
}
