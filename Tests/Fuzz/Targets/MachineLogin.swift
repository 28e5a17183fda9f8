// SPDX-License-Identifier: Apache-2.0

import XMPPCore
import XMPPCrypto

@testable import XMPPProtocol
@testable import XMPPXML

/// An honest server's side of the logins of a watched machine with SCRAM (RFC 5802), and the keys that the machine has
/// asked for and not got yet.
struct MachineLogin {
    private static let salt = Array("salt of Verona".utf8)
    private static let iterations = 4_096
    /// More iterations are not worked through: a script may ask for millions.
    private static let maximumIterations = 5_000

    private var namespace = Namespace.sasl
    private var clientFirst: [UInt8] = []
    private var serverFirst: [UInt8] = []
    private var clientFinal: [UInt8] = []
    private var works: [SCRAMKeyDerivation] = []
    private var keys: SCRAMKeyMaterial?

    /// The machine wants something done.
    mutating func saw(_ action: StreamAction) {
        switch action {
        case .deriveKeys(let work): works.append(work)
        case .send(let element): sent(element)
        case .openStream, .sendWhitespace, .endStream, .restartParser, .limit, .startTLS, .schedule, .cancel, .emit,
            .closeTransport, .abortTransport:
            break
        }
    }

    private mutating func sent(_ element: Element) {
        switch (element.localName, element.namespace) {
        case ("auth", Namespace.sasl): began(Namespace.sasl, element.text)
        case ("authenticate", Namespace.sasl2):
            began(
                Namespace.sasl2,
                element.firstChild("initial-response", namespace: Namespace.sasl2)?.text ?? "")
        case ("response", namespace): clientFinal = Base64.decode(element.text) ?? []
        default: break
        }
    }

    private mutating func began(_ namespace: String, _ text: String) {
        self.namespace = namespace
        (clientFirst, serverFirst, clientFinal) = (Base64.decode(text) ?? [], [], [])
    }

    /// Does the oldest of the work that waits; `nil` when none does.
    ///
    /// - Parameter fails: Whether it is to fail.
    mutating func nextKeys(
        fails: Bool
    ) -> (work: SCRAMKeyDerivation, outcome: Result<SCRAMKeyMaterial, CryptoError>)? {
        guard !works.isEmpty else { return nil }
        let work = works.removeFirst()
        guard !fails, work.iterations <= Self.maximumIterations else { return (work, .failure(.invalidParameter)) }
        let outcome = Result { () throws(CryptoError) in try work.keys() }
        keys = try? outcome.get()
        return (work, outcome)
    }

    /// The server's first message; it fits the client's (RFC 5802 §5.1).
    mutating func challenge() -> String {
        let nonce = clientFirst.split(separator: UInt8(ascii: ",")).last { $0.starts(with: "r=".utf8) } ?? []
        serverFirst =
            Array(nonce) + Array("verona,s=\(Base64.encode(Self.salt)),i=\(Self.iterations)".utf8)
        return "<challenge xmlns='\(namespace)'>\(Base64.encode(serverFirst))</challenge>"
    }

    /// The success, signed as by somebody who knows the keys (RFC 5802 §3); `nil` before there are any.
    func success() throws -> String? {
        guard let keys, !serverFirst.isEmpty, let proof = clientFinal.lastIndex(of: UInt8(ascii: ",")) else {
            return nil
        }
        // The GS2 header is what stands before the second comma.
        let parts = clientFirst.split(separator: UInt8(ascii: ","), maxSplits: 2, omittingEmptySubsequences: false)
        let comma = [UInt8(ascii: ",")]
        let said = Array(parts.last ?? []) + comma + serverFirst + comma + Array(clientFinal[..<proof])
        let signature = Base64.encode(try keys.serverSignature(said))
        let data = Base64.encode(Array("v=\(signature)".utf8))
        guard namespace == Namespace.sasl2 else { return "<success xmlns='\(namespace)'>\(data)</success>" }
        return "<success xmlns='\(namespace)'><additional-data>\(data)</additional-data>"
            + "<authorization-identifier>romeo@example.net/orchard</authorization-identifier>"
            + "<bound xmlns='\(Namespace.bind2)'><enabled xmlns='\(Namespace.streamManagement)'/></bound></success>"
    }
}
