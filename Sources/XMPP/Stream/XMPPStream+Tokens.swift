// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPProtocol

/// The end of tokens (XEP-0484 §3.6).
extension XMPPStream {
    /// Has the server end the token that an earlier login left, so that whoever finds it has nothing: shows it once
    /// more on a connection of its own, and makes no session there. Sessions that are open stay open.
    ///
    /// The token is gone from ``XMPPConfiguration/loginMemory`` afterwards, also where the server refuses it, which is
    /// to say that it has ended already. A stream that is open may still know it: see ``forgetToken()``.
    ///
    /// - Parameter configuration: Whose token it is, and where its server is; a password is not used.
    /// - Returns: Whether the server has ended one; `false` where there was none, or none that was good any more.
    /// - Throws: ``XMPPError`` that names the step that failed, with ``XMPPError/Code/noMechanism`` where the server
    ///   takes no such token now. The token is kept then. Cancelling the task abandons the attempt.
    public static func invalidateToken(_ configuration: XMPPConfiguration) async throws(XMPPError) -> Bool {
        let account = configuration.jid.bare
        guard configuration.jid.localpart != nil,
            let token = await configuration.loginMemory.memory(of: account)?.token, token.isValid(at: .now)
        else { return false }
        var configuration = configuration
        configuration.endsToken = true
        // What was offered at the last login leads to a session.
        configuration.anticipatesFeatures = false
        configuration.observer = nil
        let stream = XMPPStream(configuration)
        do throws(XMPPError) {
            try await stream.connect()
        } catch {
            guard error.code == .authenticationRefused else { throw error }
            return false
        }
        await stream.disconnect()
        return true
    }

    /// Forgets the token of the last login, so that nothing of it is kept any more; the next login goes by the
    /// password. The server still takes it until it ends: see ``invalidateToken(_:)``.
    public func forgetToken() async {
        guard memory?.token != nil else { return }
        remember { $0.token = nil }
        await saveMemory()
    }

    /// The server takes the token no more, and nothing else was wanted.
    func tokenEnded() {
        log(.step, "the server has ended the token")
        let waiter = attempt
        attempt = nil
        waiter?.resume(returning: .established(account))
    }
}
