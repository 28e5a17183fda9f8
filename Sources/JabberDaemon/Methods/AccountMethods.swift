// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP

/// `account …`, as far as the daemon does it.
enum AccountMethods {
    /// `account forget-token`: the tokens of an account, whoever keeps them. The server ends them first, where it can
    /// be told; what is kept here goes in any case.
    static func forgetToken(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let session = try await call.named
        let includingProofs = try call.parameters.flag("all")
        var result = session.heading
        guard let files = AccountFiles(of: session.account.name, paths: call.daemon.environment.paths) else {
            result["tokens"] = 0
            return result
        }
        let ending = await session.endTokens(in: files)
        try LoginMemoryFile.forget(files, session.jid, includingProofs: includingProofs)
        result["tokens"] = .integer(Int64(ending.known))
        if ending.known > 0 { result["ended"] = .integer(Int64(ending.count)) }
        if let failure = ending.failure {
            let until = ending.expiry.map { " until \($0)" } ?? ""
            result["warnings"] = .strings([
                "the server was not told, and takes what was forgotten\(until): \(failure.clause)"
            ])
        }
        return result
    }
}
