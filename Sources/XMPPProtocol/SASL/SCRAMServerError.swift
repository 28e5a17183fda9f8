// SPDX-License-Identifier: Apache-2.0

/// The error values that a SCRAM server may send as `e=` (RFC 5802 §7).
package enum SCRAMServerError: String, Hashable, Sendable, CaseIterable {
    /// The message could not be decoded.
    case invalidEncoding = "invalid-encoding"
    /// The server does not support an extension that we marked as mandatory.
    case extensionsNotSupported = "extensions-not-supported"
    /// The proof is wrong: as a rule, a wrong password.
    case invalidProof = "invalid-proof"
    /// The channel binding data do not match: somebody may sit between us and the server.
    case channelBindingsDontMatch = "channel-bindings-dont-match"
    /// We claimed that the server offers no channel binding, but it does: the offer was tampered with.
    case serverDoesSupportChannelBinding = "server-does-support-channel-binding"
    /// The server does not support channel binding.
    case channelBindingNotSupported = "channel-binding-not-supported"
    /// The server does not support the channel binding type that we chose.
    case unsupportedChannelBindingType = "unsupported-channel-binding-type"
    /// There is no such user.
    case unknownUser = "unknown-user"
    /// The user name is not valid UTF-8 or SASLprep forbids it.
    case invalidUsernameEncoding = "invalid-username-encoding"
    /// The server has no resources left.
    case noResources = "no-resources"
    /// Any other error, unknown words included: RFC 5802 §7 has them treated alike.
    case otherError = "other-error"
}
