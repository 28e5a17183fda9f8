// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP

/// `account …`, as far as the daemon does it.
enum AccountMethods {
    /// `account forget-token`: the tokens of an account, whoever keeps them.
    static func forgetToken(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let session = try await call.named
        let includingProofs = try call.parameters.flag("all")
        let count =
            try AccountFiles(of: session.account.name, paths: call.daemon.environment.paths).map {
                (files) throws(ControlError) in
                try LoginMemoryFile.forget(files, session.jid, includingProofs: includingProofs)
            } ?? 0
        var result = session.heading
        result["tokens"] = .integer(Int64(count))
        return result
    }
}
