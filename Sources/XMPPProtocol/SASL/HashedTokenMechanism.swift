// SPDX-License-Identifier: Apache-2.0

internal import XMPPCrypto

/// The mechanisms for tokens: one message each way, bound to the channel where its name says so
/// (draft-schmaus-kitten-sasl-ht-09).
package struct HashedTokenMechanism: SASLMechanism {
    /// One of them.
    struct Kind: Sendable {
        let name: SASLMechanismName
        let digest: Digest
        /// What the exchange is bound to; `nil` for nothing.
        let binding: ChannelBindingType?
    }

    /// Those that can be used, best first. `tls-unique` is left out: TLS 1.3 does not have it.
    static let kinds = [
        Kind(name: SASLMechanismName(rawValue: "HT-SHA-256-EXPR"), digest: .sha256, binding: .tlsExporter),
        Kind(name: SASLMechanismName(rawValue: "HT-SHA-256-ENDP"), digest: .sha256, binding: .tlsServerEndPoint),
        Kind(name: SASLMechanismName(rawValue: "HT-SHA-256-NONE"), digest: .sha256, binding: nil),
    ]

    private enum Phase {
        case initial
        case waiting
        case finished
    }

    /// Which one it is.
    package let name: SASLMechanismName
    private let kind: Kind
    private let username: String
    private let token: SecretBytes
    private let bound: [UInt8]
    private var phase = Phase.initial

    /// What the exchange is bound to; `nil` for nothing.
    package var channelBinding: ChannelBindingType? { kind.binding }

    /// An attempt; `nil` for a mechanism that is not known, or that needs a channel binding that is not there.
    ///
    /// - Parameters:
    ///   - token: The token, which says for which mechanism it is.
    ///   - username: The localpart of the account.
    ///   - bindings: What the channel can be bound to.
    package init?(_ token: LoginToken, username: String, bindings: [ChannelBindingData]) {
        guard let kind = Self.kinds.first(where: { $0.name == token.mechanism }) else { return nil }
        if let type = kind.binding {
            guard let data = bindings.first(where: { $0.type == type }) else { return nil }
            bound = data.bytes
        } else {
            bound = []
        }
        name = kind.name
        self.kind = kind
        self.username = username
        self.token = token.secret
    }

    /// The best mechanism to ask a token for; `nil` when there is none.
    ///
    /// - Parameters:
    ///   - offered: What the server can do.
    ///   - bindings: What the channel can be bound to.
    ///   - insistsOnBinding: Whether a token that is bound to no channel is refused.
    package static func best(
        of offered: [String], bindings: [ChannelBindingData], insistsOnBinding: Bool
    ) -> SASLMechanismName? {
        kinds.first { kind in
            guard offered.contains(kind.name.rawValue) else { return false }
            guard let type = kind.binding else { return !insistsOnBinding }
            return bindings.contains { $0.type == type }
        }?.name
    }

    /// User name and a hash that only who has the token can make.
    package mutating func start() throws(SASLError) -> [UInt8]? {
        guard case .initial = phase else { throw .unexpectedMessage }
        let name = Array(username.utf8)
        guard !name.isEmpty, !name.contains(0) else { throw .invalidUsername }
        phase = .waiting
        return name + [0] + (try proof(of: "Initiator"))
    }

    /// Always throws: the initial response was the whole exchange.
    package mutating func respond(to challenge: [UInt8]) throws(SASLError) -> [UInt8] {
        phase = .finished
        throw .unexpectedMessage
    }

    /// Believes the success when the server shows that it has the token too.
    package mutating func succeed(with additionalData: [UInt8]?) throws(SASLError) {
        guard case .waiting = phase else { throw .unexpectedMessage }
        phase = .finished
        guard let additionalData, !additionalData.isEmpty else { throw .serverNotAuthenticated }
        guard ConstantTime.equals(additionalData, try proof(of: "Responder")) else { throw .serverSignatureMismatch }
    }

    private func proof(of side: String) throws(SASLError) -> [UInt8] {
        do throws(CryptoError) {
            return try HMAC.authenticate(Array(side.utf8) + bound, key: token, using: kind.digest)
        } catch {
            throw .crypto(error)
        }
    }
}
