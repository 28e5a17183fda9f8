// SPDX-License-Identifier: Apache-2.0

internal import XMPPCrypto

/// What the server offered for authentication, word for word.
package struct SASLAdvertisement: Hashable, Sendable {
    /// The mechanism names, as offered.
    package let mechanisms: [SASLMechanismName]
    /// The channel binding types of the XEP-0440 feature, `nil` when the feature is absent.
    package let channelBindingTypes: [ChannelBindingType]?
    /// Whether the offer is the one of XEP-0388 (SASL2), whose servers announce their channel binding types.
    package let isSASL2: Bool

    /// An offer.
    package init(
        mechanisms: [SASLMechanismName],
        channelBindingTypes: [ChannelBindingType]? = nil,
        isSASL2: Bool = false
    ) {
        self.mechanisms = mechanisms
        self.channelBindingTypes = channelBindingTypes
        self.isSASL2 = isSASL2
    }

    /// The hash that a server sends as `h` of SCRAM's server-first message, had it made this very offer (XEP-0474).
    ///
    /// - Throws: ``CryptoError``.
    internal func downgradeHash(using digest: Digest) throws(CryptoError) -> [UInt8] {
        try digest.hash(downgradeInput)
    }

    /// The sorted names, joined with U+001E; then, where XEP-0440 is offered, U+001F and the same of the types.
    internal var downgradeInput: [UInt8] {
        var input = Self.joined(mechanisms.map(\.rawValue))
        if let channelBindingTypes {
            input.append(0x1F)
            input += Self.joined(channelBindingTypes.map(\.rawValue))
        }
        return input
    }

    /// Sorted by octet (`i;octet`), not as Swift compares strings.
    private static func joined(_ names: [String]) -> [UInt8] {
        Array(names.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }.joined(separator: [0x1E]))
    }
}
