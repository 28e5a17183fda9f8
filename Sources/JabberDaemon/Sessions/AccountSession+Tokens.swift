// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP

/// The end of the tokens that log an account in (XEP-0484 §3.6).
extension AccountSession {
    /// How long the server may take to end the tokens of an account, before they are forgotten here alone; 10 s.
    static let maximumTokenEnding: Duration = .seconds(10)

    /// What became of the tokens.
    struct TokenEnding: Sendable {
        /// How many of them there were.
        var known = 0
        /// How many of them the server has ended.
        var count = 0
        /// Why one that it would still take could not be ended.
        var failure: ControlError?
        /// When that one ends by itself.
        var expiry: DateTime?
    }

    /// Has the server end the account's tokens, each as the program that has it. An open session goes on, and forgets
    /// the one that it knows. One that is held and not connected is no reason to go online.
    func endTokens(in files: AccountFiles) async -> TokenEnding {
        let memories = LoginMemoryFile.all(files, jid)
        // Saves what it knows beside that.
        await stream?.forgetToken()
        var ending = TokenEnding()
        let isAway = if let holding { holding.status.phase != .connected } else { false }
        for memory in memories {
            guard let token = memory.token else { continue }
            ending.known += 1
            guard token.isValid(at: .now) else { continue }
            do throws(ControlError) {
                guard !isAway else { throw ControlError(.notConnected, "\(name) is not connected", account: name) }
                if try await end(memory) { ending.count += 1 }
            } catch {
                ending.failure = ending.failure ?? error
                ending.expiry = [ending.expiry, token.expiry].compactMap { $0 }.max()
            }
        }
        return ending
    }

    private func end(_ memory: LoginMemory) async throws(ControlError) -> Bool {
        var configuration = settings.configuration
        if account.proxyPasswordCommand != nil { configuration.proxy = try await findProxy() }
        let store = InMemoryLoginMemoryStore()
        await store.save(memory, of: jid)
        configuration.loginMemory = store
        let (attempt, name) = (configuration, name)
        return try await Race.run(within: Self.maximumTokenEnding) { () throws(ControlError) in
            do throws(XMPPError) {
                return try await XMPPStream.invalidateToken(attempt)
            } catch {
                throw ControlError(error, account: name)
            }
        }
    }
}
