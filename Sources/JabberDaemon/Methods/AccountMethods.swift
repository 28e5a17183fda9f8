// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP

/// `account …`, as far as the daemon does it.
enum AccountMethods {
    /// `account forget-token`: the tokens of an account, whoever keeps them.
    static func forgetToken(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        var selection = call.selection
        if let name = try call.parameters.string("name") {
            selection.account = name
            selection.jid = nil
        }
        let session = try await call.daemon.session(for: selection)
        let count = try LoginMemoryFile.forget(
            session.account.name, session.jid, paths: call.daemon.environment.paths,
            includingProofs: try call.parameters.flag("all"))
        var result = session.heading
        result["tokens"] = .integer(Int64(count))
        return result
    }
}
