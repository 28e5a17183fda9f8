// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPCrypto
internal import XMPPProtocol
internal import XMPPXML

extension LoopbackSession {
    /// The mechanisms for tokens that the channel is good for.
    var tokenMechanisms: [String] {
        [
            bindings[.tlsExporter] == nil ? nil : "HT-SHA-256-EXPR",
            bindings[.tlsServerEndPoint] == nil ? nil : "HT-SHA-256-ENDP",
            "HT-SHA-256-NONE",
        ].compactMap { $0 }
    }

    /// What is offered about tokens (XEP-0484 §3.1).
    var tokenFeature: Element? {
        guard router.options.offersTokens else { return nil }
        return Element(
            "fast", namespace: Namespace.fast,
            children: tokenMechanisms.map { Element("mechanism", namespace: Namespace.fast, text: $0) })
    }

    /// Checks the token that a client logs in with.
    func loginWithToken(
        _ mechanism: String, initial: [UInt8], count: UInt32?, userAgent: String?, endingIt endsToken: Bool
    ) -> LoopbackAuthenticator.Step {
        guard router.options.offersTokens, tokenMechanisms.contains(mechanism) else {
            return .failure(.invalidMechanism)
        }
        guard let end = initial.firstIndex(of: 0), let userAgent else { return .failure(.malformedRequest) }
        let binding: [UInt8]? =
            switch mechanism {
            case "HT-SHA-256-EXPR": bindings[.tlsExporter]
            case "HT-SHA-256-ENDP": bindings[.tlsServerEndPoint]
            default: []
            }
        guard let account = router.account(named: String(decoding: initial[..<end], as: UTF8.self)), let binding,
            let answer = account.tokens[userAgent]?.answer(
                mechanism: mechanism, proof: Array(initial[(end + 1)...]), binding: binding, count: count,
                endingIt: endsToken)
        else { return .failure(.credentialsExpired) }
        return .success(account: account.jid, data: answer)
    }

    /// The token that goes with a success: because it was asked for, or in place of the one that was used.
    func freshToken(for request: ExtensibleRequest) -> Element? {
        guard let userAgent = request.userAgent, let name = address?.localpart,
            let account = router.account(named: name),
            let mechanism = request.wantedToken ?? (router.options.rotatesTokens ? request.usedToken : nil)
        else { return nil }
        return account.tokens[userAgent, default: LoopbackTokens()].make(
            for: mechanism, lifetime: router.options.tokenLifetime)
    }
}
