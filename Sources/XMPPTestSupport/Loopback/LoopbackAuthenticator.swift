// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPCrypto
internal import XMPPProtocol

/// The server's side of one SASL exchange: PLAIN, ANONYMOUS, SCRAM with and without channel binding.
struct LoopbackAuthenticator {
    /// What comes next.
    enum Step {
        /// A challenge to send.
        case challenge([UInt8])
        /// The client is this account; the data go along with the success.
        case success(account: JID?, data: [UInt8]?)
        /// The client is refused.
        case failure(SASLFailure.Condition)
    }

    private enum State {
        case idle
        case awaitingInitial(mechanism: String)
        case awaitingProof(Exchange)
        /// The client knows why its token was refused.
        case refused
    }

    /// What SCRAM has to remember between its two messages.
    private struct Exchange {
        var account: JID?
        var keys: SCRAMKeyMaterial
        var header: [UInt8]
        var clientFirst: String
        var serverFirst: String
        var nonce: String
        var binding: [UInt8]
    }

    let mechanisms: [String]
    let iterations: Int
    /// What the channel can be bound to, by type (RFC 9266, RFC 5929).
    let bindings: [ChannelBindingType: [UInt8]]
    /// The account that the client's certificate names.
    let certified: JID?
    /// The version of TLS that is told (XEP-0515); `nil` tells none.
    let tlsVersion: UInt16?
    private var state = State.idle

    init(
        mechanisms: [String], iterations: Int, bindings: [ChannelBindingType: [UInt8]], certified: JID? = nil,
        tlsVersion: UInt16? = nil
    ) {
        self.tlsVersion = tlsVersion
        self.certified = certified
        self.mechanisms = mechanisms
        self.iterations = iterations
        self.bindings = bindings
    }

    /// Takes `<auth/>`.
    mutating func start(
        _ mechanism: String, initial: [UInt8]?, account: (String) -> LoopbackAccount?
    ) -> Step {
        guard mechanisms.contains(mechanism) else { return .failure(.invalidMechanism) }
        guard let initial else {
            state = .awaitingInitial(mechanism: mechanism)
            return .challenge([])
        }
        return begin(mechanism, initial, account)
    }

    /// Takes `<response/>`.
    mutating func respond(_ bytes: [UInt8], account: (String) -> LoopbackAccount?) -> Step {
        switch state {
        case .idle:
            return .failure(.malformedRequest)
        case .awaitingInitial(let mechanism):
            return begin(mechanism, bytes, account)
        case .awaitingProof(let exchange):
            state = .idle
            return finish(exchange, bytes)
        case .refused:
            state = .idle
            return .failure(.notAuthorized)
        }
    }

    private mutating func begin(
        _ mechanism: String, _ bytes: [UInt8], _ account: (String) -> LoopbackAccount?
    ) -> Step {
        state = .idle
        switch mechanism {
        case "PLAIN": return plain(bytes, account)
        case "ANONYMOUS": return .success(account: nil, data: nil)
        case "EXTERNAL":
            guard let certified, bytes.isEmpty || bytes == Array(certified.description.utf8) else {
                return .failure(.notAuthorized)
            }
            return .success(account: certified, data: nil)
        case "OAUTHBEARER": return bearer(bytes, account)
        case "SCRAM-SHA-1", "SCRAM-SHA-1-PLUS": return scram(.sha1, mechanism, bytes, account)
        case "SCRAM-SHA-256", "SCRAM-SHA-256-PLUS": return scram(.sha256, mechanism, bytes, account)
        case "SCRAM-SHA-512", "SCRAM-SHA-512-PLUS": return scram(.sha512, mechanism, bytes, account)
        default: return .failure(.invalidMechanism)
        }
    }

    /// RFC 4616 §2: `[authzid] NUL authcid NUL passwd`.
    private func plain(_ bytes: [UInt8], _ account: (String) -> LoopbackAccount?) -> Step {
        let parts = bytes.split(separator: 0, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard parts.count == 3, !parts[1].isEmpty, !parts[2].isEmpty else { return .failure(.malformedRequest) }
        guard let account = account(parts[1]), let password = account.password,
            ConstantTime.equals(Array(password.utf8), Array(parts[2].utf8))
        else { return .failure(.notAuthorized) }
        guard parts[0].isEmpty || parts[0] == account.jid.description else { return .failure(.invalidAuthzid) }
        return .success(account: account.jid, data: nil)
    }

    /// RFC 7628 §3.1; here a token is the password of the account.
    private mutating func bearer(_ bytes: [UInt8], _ account: (String) -> LoopbackAccount?) -> Step {
        let fields = bytes.split(separator: 1, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard fields.count == 4, fields[0].hasPrefix("n,a="), fields[1].hasPrefix("auth=Bearer ") else {
            return .failure(.malformedRequest)
        }
        let name = fields[0].dropFirst(4).prefix { $0 != "@" }
        guard let account = account(String(name)), let token = account.password,
            ConstantTime.equals(Array(token.utf8), Array(fields[1].dropFirst(12).utf8))
        else {
            state = .refused
            return .challenge(Array(#"{"status":"invalid_token"}"#.utf8))
        }
        return .success(account: account.jid, data: nil)
    }

    /// RFC 5802 §5: the client's first message, answered with salt and nonce.
    private mutating func scram(
        _ digest: Digest, _ mechanism: String, _ bytes: [UInt8], _ account: (String) -> LoopbackAccount?
    ) -> Step {
        let text = String(decoding: bytes, as: UTF8.self)
        let parts = text.split(separator: ",", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3 else { return .failure(.malformedRequest) }
        let isBound = mechanism.hasSuffix("-PLUS")
        var binding: [UInt8] = []
        if parts[0].hasPrefix("p=") {
            guard isBound, let data = bindings[ChannelBindingType(rawValue: String(parts[0].dropFirst(2)))] else {
                return .failure(.malformedRequest)
            }
            binding = data
        } else {
            // RFC 5802 §6: `y` means that somebody took our `-PLUS` mechanisms off the list.
            let wasStripped = parts[0] == "y" && mechanisms.contains { $0.hasSuffix("-PLUS") }
            guard !isBound, parts[0] == "n" || parts[0] == "y", !wasStripped else { return .failure(.notAuthorized) }
        }
        let fields = Self.fields(parts[2])
        guard let name = fields["n"].flatMap(Self.unescape), let clientNonce = fields["r"], !clientNonce.isEmpty,
            fields["m"] == nil
        else { return .failure(.malformedRequest) }
        let known = account(name)
        // Unknown names get keys that fit no password: an answer must not tell who exists.
        guard
            let keys = known?.scramKeys(digest, iterations: iterations)
                ?? (try? SCRAMKeyMaterial(
                    digest: digest, password: SecretBytes(SecureRandom().bytes(16)), salt: SecureRandom().bytes(16),
                    iterations: iterations))
        else { return .failure(.temporaryAuthFailure) }
        let nonce = clientNonce + SecureRandom().identifier()
        let answer =
            "r=\(nonce),s=\(Base64.encode(keys.salt)),i=\(keys.iterations)"
            + (tlsVersion.map { ",t=0\(String($0, radix: 16))" } ?? "")
        state = .awaitingProof(
            Exchange(
                account: known?.jid, keys: keys, header: Array("\(parts[0]),\(parts[1]),".utf8), clientFirst: parts[2],
                serverFirst: answer, nonce: nonce, binding: binding))
        return .challenge(Array(answer.utf8))
    }

    /// RFC 5802 §5.1: the proof, checked against the stored key.
    private func finish(_ exchange: Exchange, _ bytes: [UInt8]) -> Step {
        let text = String(decoding: bytes, as: UTF8.self)
        let fields = Self.fields(text)
        guard let proofStart = text.range(ofLast: ",p="), let proof = fields["p"].flatMap({ Base64.decode($0) }),
            let binding = fields["c"].flatMap({ Base64.decode($0) }), fields["r"] == exchange.nonce
        else { return .failure(.malformedRequest) }
        guard binding == exchange.header + exchange.binding else { return .failure(.notAuthorized) }
        let authMessage = Array("\(exchange.clientFirst),\(exchange.serverFirst),\(text[..<proofStart])".utf8)
        let digest = exchange.keys.digest
        do {
            let storedKey = try digest.hash(exchange.keys.clientKey.withUnsafeBytes { Array($0) })
            let signature = try HMAC.authenticate(authMessage, key: storedKey, using: digest)
            let shown = try digest.hash(zip(proof, signature).map { $0 ^ $1 })
            guard proof.count == signature.count, ConstantTime.equals(shown, storedKey), let account = exchange.account
            else { return .failure(.notAuthorized) }
            let verifier = try HMAC.authenticate(authMessage, key: exchange.keys.serverKey, using: digest)
            return .success(account: account, data: Array("v=\(Base64.encode(verifier))".utf8))
        } catch {
            return .failure(.temporaryAuthFailure)
        }
    }

    /// The attributes of a SCRAM message by their letter; the first of each counts.
    private static func fields(_ text: String) -> [String: String] {
        var fields: [String: String] = [:]
        for part in text.split(separator: ",") where part.dropFirst().first == "=" {
            let name = String(part.prefix(1))
            fields[name] = fields[name] ?? String(part.dropFirst(2))
        }
        return fields
    }

    /// RFC 5802 §5.1: `=2C` is a comma, `=3D` an equals sign, and no other `=` may stand in a name.
    private static func unescape(_ name: String) -> String? {
        var result = ""
        var rest = name[...]
        while let character = rest.popFirst() {
            guard character == "=" else {
                result.append(character)
                continue
            }
            let code = rest.prefix(2)
            rest = rest.dropFirst(2)
            switch code {
            case "2C": result.append(",")
            case "3D": result.append("=")
            default: return nil
            }
        }
        return result.isEmpty ? nil : result
    }
}

extension String {
    /// Where the last occurrence of `part` begins.
    fileprivate func range(ofLast part: String) -> String.Index? {
        var index = endIndex
        while index > startIndex {
            index = self.index(before: index)
            if self[index...].hasPrefix(part) { return index }
        }
        return nil
    }
}
