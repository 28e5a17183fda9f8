// SPDX-License-Identifier: Apache-2.0

package import XMPPCrypto

/// SCRAM with any hash, with and without channel binding (RFC 5802, RFC 7677, XEP-0474, XEP-0515).
///
/// Neither side shows the password; success is believed only once the server has proven that it knows the
/// password's verifier, be it in `<success/>` or in a last challenge.
package struct SCRAMMechanism: SASLMechanism {
    private enum Phase {
        case initial
        case waitingForServerFirst
        case waitingForServerFinal(signature: [UInt8])
        case serverAuthenticated
        case finished
        case failed
    }

    private let digest: Digest
    private let gs2Header: [UInt8]
    private let clientFirstBare: [UInt8]
    private let nonce: [UInt8]
    private let binding: ChannelBinding
    private let advertisement: SASLAdvertisement
    private let tlsVersion: UInt16?
    private let limits: SCRAMLimits
    private var secret: SCRAMSecret?
    private var phase = Phase.initial
    private var derived: SCRAMKeyMaterial?

    /// An attempt.
    ///
    /// - Parameters:
    ///   - digest: the hash function that the mechanism's name says.
    ///   - username: a JID's localpart, prepared as such.
    ///   - secret: the password, prepared, or keys kept from an earlier login, or both.
    ///   - authorizationID: the bare JID to act for, `nil` for the user's own.
    ///   - binding: the GS2 flag; ``ChannelBinding/bound(_:)`` makes this the `-PLUS` mechanism.
    ///   - nonce: fresh and unpredictable, visible ASCII without comma (``RandomSource/identifier()`` will do).
    ///   - advertisement: what the server offered, for the check of XEP-0474.
    ///   - tlsVersion: that of the channel, for the check of XEP-0515; `nil` compares nothing.
    ///   - limits: what to accept from the server.
    /// - Throws: ``SASLError/invalidUsername`` for an empty name or one with U+0000 (RFC 5802 §7, `saslname`);
    ///   ``SASLError/malformedMessage`` for a nonce that is none.
    package init(
        digest: Digest,
        username: String,
        secret: SCRAMSecret,
        authorizationID: String? = nil,
        binding: ChannelBinding = .none,
        nonce: String,
        advertisement: SASLAdvertisement,
        tlsVersion: UInt16? = nil,
        limits: SCRAMLimits = SCRAMLimits()
    ) throws(SASLError) {
        let nonceBytes = Array(nonce.utf8)
        let isPrintable = nonceBytes.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ",") }
        guard !nonceBytes.isEmpty, isPrintable else { throw .malformedMessage }
        self.digest = digest
        self.secret = secret
        self.binding = binding
        self.nonce = nonceBytes
        self.advertisement = advertisement
        self.tlsVersion = tlsVersion
        self.limits = limits
        let identity: [UInt8] = if let authorizationID { try GS2Name.escape(authorizationID, prefix: "a=") } else { [] }
        gs2Header = Array(binding.flag.utf8) + [UInt8(ascii: ",")] + identity + [UInt8(ascii: ",")]
        clientFirstBare = try GS2Name.escape(username, prefix: "n=") + Array(",r=".utf8) + nonceBytes
    }

    /// The mechanism's name, from its hash function and whether it is bound.
    package var name: SASLMechanismName {
        switch binding {
        case .none, .unsupportedByServer: SASLMechanismName(rawValue: "SCRAM-\(digest)")
        case .bound: SASLMechanismName(rawValue: "SCRAM-\(digest)-PLUS")
        }
    }

    /// The keys of this login, once the server has proven itself: worth keeping for the next.
    package var keyMaterial: SCRAMKeyMaterial? {
        switch phase {
        case .serverAuthenticated, .finished: derived
        case .initial, .waitingForServerFirst, .waitingForServerFinal, .failed: nil
        }
    }

    /// `client-first-message`.
    package mutating func start() throws(SASLError) -> [UInt8]? {
        guard case .initial = phase else { throw fail(.unexpectedMessage) }
        phase = .waitingForServerFirst
        return gs2Header + clientFirstBare
    }

    /// The iterations, when the server's first message asks for keys that are not there yet.
    package func derivation(for challenge: [UInt8]) throws(SASLError) -> SCRAMKeyDerivation? {
        guard case .waitingForServerFirst = phase, let secret, let password = secret.password else { return nil }
        let first = try SCRAMServerFirst(challenge, clientNonce: nonce, limits: limits)
        try checkDowngrade(first)
        if let kept = secret.keys, first.isServed(by: kept, digest: digest) { return nil }
        return SCRAMKeyDerivation(digest: digest, salt: first.salt, iterations: first.iterations, password: password)
    }

    /// Takes the keys for the server's first message.
    package mutating func take(_ keys: SCRAMKeyMaterial) {
        guard case .waitingForServerFirst = phase, let password = secret?.password else { return }
        secret = SCRAMSecret(preparedPassword: password, keys: keys)
    }

    /// `client-final-message` for the server's first message; nothing for its final one.
    ///
    /// Without ``take(_:)`` before it, the iterations are worked through here.
    package mutating func respond(to challenge: [UInt8]) throws(SASLError) -> [UInt8] {
        do throws(SASLError) {
            switch phase {
            case .waitingForServerFirst:
                return try answer(serverFirst: challenge)
            case .waitingForServerFinal(let signature):
                try verify(serverFinal: challenge, signature: signature)
                phase = .serverAuthenticated
                return []
            case .initial, .serverAuthenticated, .finished, .failed:
                throw SASLError.unexpectedMessage
            }
        } catch {
            throw fail(error)
        }
    }

    /// Believes the success when the server's signature is right, here or in an earlier challenge.
    package mutating func succeed(with additionalData: [UInt8]?) throws(SASLError) {
        do throws(SASLError) {
            switch phase {
            case .waitingForServerFinal(let signature):
                // RFC 5802 §5, RFC 6120 §6.4.6: no signature, no success.
                guard let additionalData, !additionalData.isEmpty else { throw SASLError.serverNotAuthenticated }
                try verify(serverFinal: additionalData, signature: signature)
            case .serverAuthenticated:
                guard additionalData?.isEmpty ?? true else { throw SASLError.unexpectedMessage }
            case .initial, .waitingForServerFirst:
                throw SASLError.serverNotAuthenticated
            case .finished, .failed:
                throw SASLError.unexpectedMessage
            }
            phase = .finished
        } catch {
            throw fail(error)
        }
    }

    /// Forgets the secrets and answers nothing more.
    private mutating func fail(_ error: SASLError) -> SASLError {
        phase = .failed
        secret = nil
        derived = nil
        return error
    }

    private mutating func answer(serverFirst message: [UInt8]) throws(SASLError) -> [UInt8] {
        let first = try SCRAMServerFirst(message, clientNonce: nonce, limits: limits)
        try checkDowngrade(first)
        let keys = try keys(for: first)
        let bound = Base64.encodeToBytes(gs2Header + binding.data)
        let withoutProof = Array("c=".utf8) + bound + Array(",r=".utf8) + first.nonce
        let comma = [UInt8(ascii: ",")]
        // Every octet that the server sent takes part, unknown extensions included (RFC 5802 §3).
        let authMessage = clientFirstBare + comma + message + comma + withoutProof
        do throws(CryptoError) {
            let proof = try keys.clientProof(authMessage)
            phase = .waitingForServerFinal(signature: try keys.serverSignature(authMessage))
            derived = keys
            secret = nil
            return withoutProof + Array(",p=".utf8) + Base64.encodeToBytes(proof)
        } catch {
            throw .crypto(error)
        }
    }

    /// XEP-0474: when the server says what it offered, that must be what we saw.
    private func checkDowngrade(_ first: SCRAMServerFirst) throws(SASLError) {
        try checkTLSVersion(first)
        guard let sent = first.downgradeHash else { return }
        do throws(CryptoError) {
            let expected = try advertisement.downgradeHash(using: digest)
            if ConstantTime.equals(sent, expected) { return }
        } catch {
            throw .crypto(error)
        }
        throw .downgradeDetected
    }

    /// XEP-0515 §5.2: where both sides do not have the same version of TLS, they have not the same channel. Who takes
    /// the attribute away, or changes it, is found out by the server: it is part of what is proven.
    private func checkTLSVersion(_ first: SCRAMServerFirst) throws(SASLError) {
        guard let sent = first.tlsVersion, let tlsVersion else { return }
        let digits = String(tlsVersion, radix: 16)
        let expected = String(repeating: "0", count: 4 - digits.utf8.count) + digits
        guard sent == Array(expected.utf8) else { throw .tlsVersionsDiffer }
    }

    private func keys(for first: SCRAMServerFirst) throws(SASLError) -> SCRAMKeyMaterial {
        guard let secret else { throw .unexpectedMessage }
        if let kept = secret.keys, first.isServed(by: kept, digest: digest) { return kept }
        guard let password = secret.password else { throw .staleKeys }
        do throws(CryptoError) {
            return try SCRAMKeyMaterial(
                digest: digest, password: password, salt: first.salt, iterations: first.iterations)
        } catch {
            throw .crypto(error)
        }
    }

    private func verify(serverFinal message: [UInt8], signature: [UInt8]) throws(SASLError) {
        let attributes = try SCRAMAttribute.parse(message, limits: limits)
        guard let first = attributes.first else { throw .malformedMessage }
        if first.name == UInt8(ascii: "e") { throw .serverRefused(first.serverError) }
        guard first.name == UInt8(ascii: "v"), Set(attributes.map(\.name)).count == attributes.count else {
            throw .malformedMessage
        }
        guard !attributes.contains(where: { $0.name == UInt8(ascii: "m") }) else { throw .mandatoryExtension }
        guard let sent = Base64.decode(first.value) else { throw .malformedMessage }
        guard ConstantTime.equals(sent, signature) else { throw .serverSignatureMismatch }
    }
}
