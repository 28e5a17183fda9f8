// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP

extension AccountSession {
    /// Looks a secret up. A command may run for a while: not on a thread that others wait for.
    func lookUp(
        _ source: @escaping @Sendable () throws(ControlError) -> String?
    ) async throws(ControlError) -> String? {
        let found = await Background.run { () -> Result<String?, ControlError> in
            do throws(ControlError) {
                return .success(try source())
            } catch {
                return .failure(error)
            }
        }
        return try found.get()
    }

    /// The account's proxy, with the password that a command gives.
    func findProxy() async throws(ControlError) -> ConnectionProxy? {
        if let proxy { return proxy }
        guard let address = account.proxy.flatMap(ProxyAddress.init) else { return nil }
        let (passwords, account) = (passwords, account)
        let password = try await lookUp { () throws(ControlError) in try passwords.proxyPassword(of: account) }
        proxy = ConnectionProxy(address, password: password)
        return proxy
    }
}
