// SPDX-License-Identifier: Apache-2.0

import XMPPCore
import XMPPCrypto
import XMPPXML

@testable import XMPPProtocol

extension MachineRun {
    private static let serverFirst = "r=\(FixedRandom().identifier())more,s=QSXCR+Q6sek8bf92,i=4096"

    /// SASL2 with SCRAM-SHA-1, up to the point where the server has to prove itself; with a session to resume where a
    /// row says so.
    mutating func offerSASL2(_ state: String) throws {
        if state.contains("resume") {
            try manage("sm")
            reconnect()
        }
        secure(bindings: [ChannelBindingData(type: .tlsExporter, bytes: [1, 2, 3])])
        receiveHeader()
        try receive(
            "<stream:features><authentication xmlns='\(Namespace.sasl2)'><mechanism>SCRAM-SHA-1-PLUS</mechanism>"
                + "<mechanism>SCRAM-SHA-1</mechanism>"
                + "<upgrade xmlns='\(Namespace.saslUpgrade)'>UPGR-SCRAM-SHA-256</upgrade><inline>"
                + "<sm xmlns='\(Namespace.streamManagement)'/><bind xmlns='\(Namespace.bind2)'/>"
                + "<fast xmlns='\(Namespace.fast)'><mechanism>HT-SHA-256-EXPR</mechanism></fast></inline></authentication>"
                + "<sasl-channel-binding xmlns='\(Namespace.saslChannelBinding)'><channel-binding type='tls-exporter'/>"
                + "</sasl-channel-binding></stream:features>")
        try receive(
            "<challenge xmlns='\(Namespace.sasl2)'>\(Base64.encode(Array(Self.serverFirst.utf8)))</challenge>")
        let answer = outcome.elements.last.flatMap { Base64.decode($0.text) } ?? []
        verifier = try Self.verifier(clientFinal: String(decoding: answer, as: UTF8.self))
        guard state.hasPrefix("next") else { return }
        try receive(
            "<continue xmlns='\(Namespace.sasl2)'><additional-data>\(verifier)</additional-data><tasks>"
                + "<task>UPGR-SCRAM-SHA-256</task></tasks></continue>")
    }

    /// The server's proof for the exchange (RFC 5802 §3).
    private static func verifier(clientFinal: String) throws -> String {
        let keys = try SCRAMKeyMaterial(
            digest: .sha1, password: SecretBytes("secret"), salt: Base64.decode("QSXCR+Q6sek8bf92") ?? [],
            iterations: 4_096)
        let withoutProof = clientFinal.split(separator: ",").filter { !$0.hasPrefix("p=") }.joined(separator: ",")
        let message = "n=romeo,r=\(FixedRandom().identifier()),\(serverFirst),\(withoutProof)"
        let signature = try keys.serverSignature(Array(message.utf8))
        return Base64.encode(Array("v=\(Base64.encode(signature))".utf8))
    }
}
