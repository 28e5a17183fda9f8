// SPDX-License-Identifier: Apache-2.0

internal import XMPPXML

/// Why none of the mechanisms that a server offers can be used.
package struct SASLSelectionError: Error, Hashable, Sendable {
    /// The obstacle as a whole.
    package enum Cause: Hashable, Sendable {
        /// The channel is not encrypted (RFC 6120 §13.9.4).
        case channelNotSecure
        /// The server offers no mechanism at all.
        case nothingOffered
        /// The server offers more mechanisms than are looked at.
        case tooManyOffered(maximum: Int)
        /// `-PLUS` is offered, but for no channel binding type that we have: a sign of tampering (XEP-0440).
        case noCommonChannelBinding
        /// SASL2 must offer `-PLUS` and the list of channel binding types together or not at all (XEP-0440).
        case inconsistentChannelBinding
        /// Each mechanism was looked at and refused, for the reasons given.
        case noneUsable
    }

    /// Why one mechanism is not used.
    package enum Reason: Hashable, Sendable {
        /// It is not one that this library has, or that suits the purpose.
        case unknown
        /// It needs channel binding data, and there are none.
        case needsChannelBinding
        /// It sends the password itself, and the channel is not verified TLS.
        case needsVerifiedTLS
        /// The account does not allow it.
        case notAllowed
        /// The account has logged in with SCRAM before, so that this is a downgrade (XEP-0474).
        case weakerThanBefore
        /// The account has logged in bound to its channel before (XEP-0440), so that this is a downgrade.
        case unboundNow
        /// It needs a password, or keys for its hash function, and there are none.
        case needsPassword
        /// It needs an access token, and there is none.
        case needsAccessToken
        /// It needs a client certificate, and there is none.
        case needsCertificate
        /// It logs in as nobody, which was not asked for.
        case notAskedFor
        /// It logs in to an account, where an anonymous login was asked for.
        case notAnonymous
        /// No login was asked for at all.
        case noLogin
    }

    /// One offered mechanism with the reason why it is not used.
    package struct Rejection: Hashable, Sendable {
        /// The name as offered: text from the network.
        package let name: SASLMechanismName
        /// The reason.
        package let reason: Reason
    }

    /// The obstacle as a whole.
    package let cause: Cause
    /// The offered mechanisms and why each is not used; at most ``maximumRejections`` of them.
    package let rejections: [Rejection]
    /// How many mechanisms the server offered.
    package let offeredCount: Int

    /// How many rejections are kept for the report: 20.
    package static let maximumRejections = 20
    /// How much of an offered name is quoted, in Unicode scalars: 20 is the most that RFC 4422 §3.1 allows.
    package static let maximumQuotedName = 20

    internal init(_ cause: Cause, rejections: [Rejection] = [], offeredCount: Int) {
        self.cause = cause
        self.rejections = Array(rejections.prefix(Self.maximumRejections))
        self.offeredCount = offeredCount
    }
}

extension SASLSelectionError {
    /// Whether the offer contradicts itself, or earlier logins, in what it says of channel binding (XEP-0440).
    package var concernsChannelBinding: Bool {
        switch cause {
        case .noCommonChannelBinding, .inconsistentChannelBinding: true
        case .noneUsable: rejections.contains { $0.reason == .unboundNow }
        case .channelNotSecure, .nothingOffered, .tooManyOffered: false
        }
    }
}

extension SASLSelectionError: CustomStringConvertible {
    /// The obstacle, then each mechanism with its reason. Quotes the server: to be sanitised before a terminal sees it.
    package var description: String {
        guard !rejections.isEmpty else { return cause.description }
        let list = rejections.map {
            "\($0.name.rawValue.shortened(toScalars: Self.maximumQuotedName)) (\($0.reason))"
        }
        let surplus = offeredCount - rejections.count
        let tail = surplus > 0 ? ", and \(surplus) more" : ""
        return "\(cause): \(list.joined(separator: ", "))\(tail)"
    }
}

extension SASLSelectionError.Cause: CustomStringConvertible {
    /// One clause for people.
    package var description: String {
        switch self {
        case .channelNotSecure: "the connection is not encrypted, so no login is attempted"
        case .nothingOffered: "the server offers no way to log in"
        case .tooManyOffered(let maximum): "the server offers more than \(maximum) ways to log in"
        case .noCommonChannelBinding: "the server offers channel binding, but of no known type"
        case .inconsistentChannelBinding: "the server's offer of channel binding contradicts itself"
        case .noneUsable: "no offered mechanism can be used"
        }
    }
}

extension SASLSelectionError.Reason: CustomStringConvertible {
    /// A few words for people.
    package var description: String {
        switch self {
        case .unknown: "not supported"
        case .needsChannelBinding: "needs channel binding"
        case .needsVerifiedTLS: "needs verified TLS"
        case .notAllowed: "not allowed for this account"
        case .weakerThanBefore: "weaker than what this account used before"
        case .unboundNow: "not bound to the TLS channel, as logins of this account were before"
        case .needsPassword: "needs a password"
        case .needsAccessToken: "needs an access token"
        case .needsCertificate: "needs a client certificate"
        case .notAskedFor: "anonymous login was not asked for"
        case .notAnonymous: "not an anonymous login"
        case .noLogin: "no login was asked for"
        }
    }
}
