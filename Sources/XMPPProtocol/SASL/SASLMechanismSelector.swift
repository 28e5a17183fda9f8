// SPDX-License-Identifier: Apache-2.0

internal import XMPPCrypto

/// The mechanism to use, with the channel binding that goes with it.
package struct SASLSelection: Hashable, Sendable {
    /// The mechanism.
    package let name: SASLMechanismName
    /// What to say about channel binding; ``ChannelBinding/none`` outside SCRAM.
    package let binding: ChannelBinding
}

extension SASLSelection {
    /// How much an exchange is worth in comparison with others: bound before unbound, proof before password.
    package var strength: Int {
        let scram = SASLMechanismSelector.scram
        // The key of the certificate has signed this very handshake.
        if name == .external { return 2 * scram.count + 1 }
        if let index = scram.firstIndex(where: { $0.plus == name }) { return 2 * scram.count - index }
        if let index = scram.firstIndex(where: { $0.plain == name }) { return scram.count - index }
        return 0
    }
}

/// Chooses among the offered mechanisms by our own order and policy, never the server's (RFC 6120 §6.3.3).
package struct SASLMechanismSelector: Sendable {
    /// Most mechanisms looked at; an offer with more is refused: 1,000.
    package static let maximumOfferedMechanisms = 1_000

    /// The SCRAM mechanisms, best first: name, name with channel binding, hash function.
    internal static let scram: [(plain: SASLMechanismName, plus: SASLMechanismName, digest: Digest)] = [
        (.scramSHA512, .scramSHA512Plus, .sha512),
        (.scramSHA256, .scramSHA256Plus, .sha256),
        (.scramSHA1, .scramSHA1Plus, .sha1),
    ]

    private let credentials: SASLCredentials
    private let security: SASLChannelSecurity
    private let bindings: [ChannelBindingData]
    private let policy: SASLPolicy

    /// A selector for one connection.
    ///
    /// - Parameters:
    ///   - credentials: what there is to log in with.
    ///   - security: how well the channel is protected.
    ///   - bindings: what the transport can bind to, best first (`tls-exporter` before `tls-server-end-point`,
    ///     RFC 9266 §2, and only where TLS makes it meaningful); empty when we do not support channel binding.
    ///   - policy: what the account allows.
    package init(
        credentials: SASLCredentials,
        security: SASLChannelSecurity,
        bindings: [ChannelBindingData] = [],
        policy: SASLPolicy = SASLPolicy()
    ) {
        self.credentials = credentials
        self.security = security
        self.bindings = bindings
        self.policy = policy
    }

    /// The mechanism to use for an offer.
    ///
    /// - Throws: ``SASLSelectionError`` with what was offered and why each of it is not used.
    package func select(from offer: SASLAdvertisement) throws(SASLSelectionError) -> SASLSelection {
        let count = offer.mechanisms.count
        guard count <= Self.maximumOfferedMechanisms else {
            throw SASLSelectionError(
                .tooManyOffered(maximum: Self.maximumOfferedMechanisms), offeredCount: count)
        }
        // RFC 6120 §13.8.3, §13.9.4: nothing before TLS, not even a mechanism that would hide the password.
        guard security != .clear else { throw SASLSelectionError(.channelNotSecure, offeredCount: count) }
        guard count > 0 else { throw SASLSelectionError(.nothingOffered, offeredCount: 0) }
        let offered = Set(offer.mechanisms)
        switch credentials {
        case .anonymous:
            if offered.contains(.anonymous) { return SASLSelection(name: .anonymous, binding: .none) }
        case .nobody:
            break
        case .account(let account):
            if account.showsCertificate, offered.contains(.external), security == .verifiedTLS {
                return SASLSelection(name: .external, binding: .none)
            }
            if let bound = try boundSelection(for: account, offered: offered, offer: offer) { return bound }
            if mayBeUnbound, let unbound = unboundSelection(for: account, offered: offered) { return unbound }
        }
        throw noneUsable(offer)
    }

    /// The best `-PLUS` mechanism, `nil` when we or the server have no channel binding.
    private func boundSelection(
        for account: SASLAccount,
        offered: Set<SASLMechanismName>,
        offer: SASLAdvertisement
    ) throws(SASLSelectionError) -> SASLSelection? {
        guard let preferred = bindings.first else { return nil }
        let count = offer.mechanisms.count
        let usable = Self.scram.first { offered.contains($0.plus) && account.canUse($0.digest) }
        let plusOffered = Self.offersChannelBinding(offered)
        // XEP-0440: under SASL2 servers announce both or neither, so that one alone means that somebody cut.
        guard !offer.isSASL2 || plusOffered == (offer.channelBindingTypes?.isEmpty == false) else {
            throw SASLSelectionError(.inconsistentChannelBinding, offeredCount: count)
        }
        guard let usable else { return nil }
        guard let types = offer.channelBindingTypes else {
            // Servers older than XEP-0440 may know `tls-unique` only, which TLS 1.3 does not have, and offer `-PLUS`
            // all the same: ejabberd 23.01 does. Guessing a type would lock their users out. Where nothing but a bound
            // login will do, a guess is better than none.
            let hasUnbound = Self.scram.contains { offered.contains($0.plain) && account.canUse($0.digest) }
            return hasUnbound && mayBeUnbound ? nil : SASLSelection(name: usable.plus, binding: .bound(preferred))
        }
        // XEP-0440 §4: giving up the binding because the list was replaced is what an attacker hopes for.
        guard let common = bindings.first(where: { types.contains($0.type) }) else {
            throw SASLSelectionError(.noCommonChannelBinding, offeredCount: count)
        }
        return SASLSelection(name: usable.plus, binding: .bound(common))
    }

    /// Whether an exchange may do without channel binding: not where the account has used it before, since somebody in
    /// between would take it off the list. In the clear, which loopback alone allows, there is no channel to bind to.
    private var mayBeUnbound: Bool {
        !policy.hasUsedChannelBinding || policy.allowsWeakerLogin || security == .permittedLoopback
    }

    /// The best mechanism without channel binding, by our order; `nil` when none can be used.
    private func unboundSelection(for account: SASLAccount, offered: Set<SASLMechanismName>) -> SASLSelection? {
        if let best = Self.scram.first(where: { offered.contains($0.plain) && account.canUse($0.digest) }) {
            // RFC 5802 §6: `y` would be a lie towards a server that does offer channel binding.
            let appearsStripped = !bindings.isEmpty && !Self.offersChannelBinding(offered)
            return SASLSelection(name: best.plain, binding: appearsStripped ? .unsupportedByServer : .none)
        }
        // A token can be had again, and for one purpose only; a password cannot.
        if offered.contains(.oauthBearer), bearerObstacle(for: account) == nil {
            return SASLSelection(name: .oauthBearer, binding: .none)
        }
        guard offered.contains(.plain), plainObstacle(for: account) == nil else { return nil }
        return SASLSelection(name: .plain, binding: .none)
    }

    /// Why OAUTHBEARER may not be used, `nil` when it may.
    private func bearerObstacle(for account: SASLAccount) -> SASLSelectionError.Reason? {
        // Whoever takes SCRAM off the list would be given the token, as with PLAIN.
        let couldProve = account.password != nil || account.keys != nil
        if couldProve, policy.hasUsedSCRAM, !policy.allowsWeakerLogin { return .weakerThanBefore }
        return channelObstacle ?? (account.accessToken == nil ? .needsAccessToken : nil)
    }

    /// Why nothing may be sent that whoever receives it can use, `nil` when it may.
    private var channelObstacle: SASLSelectionError.Reason? {
        switch security {
        case .verifiedTLS, .permittedLoopback: break
        case .unverifiedTLS, .clear: return .needsVerifiedTLS
        }
        return nil
    }

    /// Why PLAIN may not be used, `nil` when it may.
    private func plainObstacle(for account: SASLAccount) -> SASLSelectionError.Reason? {
        if !policy.allowsPlain { return .notAllowed }
        // XEP-0474, business rules: no PLAIN once SCRAM was used.
        if policy.hasUsedSCRAM && !policy.allowsWeakerLogin { return .weakerThanBefore }
        return channelObstacle ?? (account.password == nil ? .needsPassword : nil)
    }

    private func noneUsable(_ offer: SASLAdvertisement) -> SASLSelectionError {
        let rejections = offer.mechanisms.prefix(SASLSelectionError.maximumRejections).map {
            SASLSelectionError.Rejection(name: $0, reason: reason(against: $0))
        }
        return SASLSelectionError(.noneUsable, rejections: rejections, offeredCount: offer.mechanisms.count)
    }

    private func reason(against name: SASLMechanismName) -> SASLSelectionError.Reason {
        guard Self.isKnown(name) else { return .unknown }
        let account: SASLAccount
        switch credentials {
        case .anonymous: return .notAnonymous
        case .nobody: return .noLogin
        case .account(let known): account = known
        }
        if name == .anonymous { return .notAskedFor }
        if name == .external { return .needsCertificate }
        if name == .oauthBearer { return bearerObstacle(for: account) ?? .needsAccessToken }
        if name == .plain { return plainObstacle(for: account) ?? .needsPassword }
        if Self.scram.contains(where: { $0.plus == name }) {
            return bindings.isEmpty ? .needsChannelBinding : .needsPassword
        }
        return mayBeUnbound ? .needsPassword : .unboundNow
    }

    /// Whether this library has a mechanism at all.
    package static func isKnown(_ name: SASLMechanismName) -> Bool {
        [.plain, .anonymous, .oauthBearer, .external].contains(name)
            || scram.contains { $0.plus == name || $0.plain == name }
    }

    /// Whether the server offers channel binding at all, be it with mechanisms that are not known here.
    private static func offersChannelBinding(_ offered: Set<SASLMechanismName>) -> Bool {
        offered.contains { $0.rawValue.hasSuffix("-PLUS") }
    }
}
