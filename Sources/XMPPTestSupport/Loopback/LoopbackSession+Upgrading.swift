// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPCrypto
internal import XMPPProtocol
internal import XMPPXML

/// A step of XEP-0480 that is under way.
struct LoopbackUpgrade {
    /// Who is authenticated already.
    let account: JID
    /// The name of the step.
    let task: String
    /// What the client is to salt its password with, once it has begun.
    var salt: [UInt8]?
}

extension LoopbackSession {
    /// The client has proven itself: asks for the next step that both sides know, or ends the exchange.
    func proceedExtensible(_ jid: JID, data: [UInt8]?) {
        guard let request = extensible,
            let task = request.upgrades.first(where: { router.options.upgrades.map { "UPGR-\($0)" }.contains($0) })
        else { return succeedExtensible(jid, data: data) }
        extensible?.upgrades.removeAll { $0 == task }
        extensible?.upgrade = LoopbackUpgrade(account: jid, task: task)
        authenticator = nil
        var step = Element("continue", namespace: Namespace.sasl2)
        if let data {
            step.append(Element("additional-data", namespace: Namespace.sasl2, text: Base64.encode(data)))
        }
        step.append(
            Element(
                "tasks", namespace: Namespace.sasl2,
                children: [Element("task", namespace: Namespace.sasl2, text: task)]))
        send(step)
    }

    /// Takes what a client sends in a step.
    func upgrade(_ element: Element) {
        guard var step = extensible?.upgrade else { return refuseExtensible(.malformedRequest) }
        guard let salt = step.salt else {
            guard element.localName == "next", element["task"] == step.task else {
                return refuseExtensible(.malformedRequest)
            }
            let salt = SecureRandom().bytes(16)
            step.salt = salt
            extensible?.upgrade = step
            var data = Element(
                "salt", namespace: Namespace.scramUpgrade,
                attributes: ["iterations": String(router.options.iterations)])
            data.append(text: Base64.encode(salt))
            return send(Element("task-data", namespace: Namespace.sasl2, children: [data]))
        }
        let name = String(step.task.dropFirst("UPGR-".count))
        let digest = Digest.allCases.first { "SCRAM-\($0)" == name }
        let account = step.account.localpart.flatMap { router.account(named: $0) }
        let hash = element.firstChild("hash", namespace: Namespace.scramUpgrade).flatMap { Base64.decode($0.text) }
        guard let digest, let account, let password = account.password, let hash,
            let expected = try? PBKDF2.derive(
                password: SecretBytes(password), salt: salt, iterations: router.options.iterations, using: digest),
            ConstantTime.equals(hash, expected.withUnsafeBytes { Array($0) })
        else { return refuseExtensible(.notAuthorized) }
        account.upgrades.append(name)
        extensible?.upgrade = nil
        proceedExtensible(step.account, data: nil)
    }
}
