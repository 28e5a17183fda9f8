// SPDX-License-Identifier: Apache-2.0

/// The registered name of a SASL mechanism, as servers offer it (RFC 4422 §3.1).
///
/// An open vocabulary: servers offer names that this library does not know. Names are compared exactly; `plain` is
/// not `PLAIN`.
public struct SASLMechanismName: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The name as it stands on the wire.
    public let rawValue: String

    /// A name as it stands on the wire; it need not be one that is known here.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// SCRAM with SHA-512, bound to the TLS channel.
    public static let scramSHA512Plus = SASLMechanismName(rawValue: "SCRAM-SHA-512-PLUS")
    /// SCRAM with SHA-256, bound to the TLS channel (RFC 7677).
    public static let scramSHA256Plus = SASLMechanismName(rawValue: "SCRAM-SHA-256-PLUS")
    /// SCRAM with SHA-1, bound to the TLS channel (RFC 5802).
    public static let scramSHA1Plus = SASLMechanismName(rawValue: "SCRAM-SHA-1-PLUS")
    /// SCRAM with SHA-512.
    public static let scramSHA512 = SASLMechanismName(rawValue: "SCRAM-SHA-512")
    /// SCRAM with SHA-256 (RFC 7677).
    public static let scramSHA256 = SASLMechanismName(rawValue: "SCRAM-SHA-256")
    /// SCRAM with SHA-1 (RFC 5802).
    public static let scramSHA1 = SASLMechanismName(rawValue: "SCRAM-SHA-1")
    /// The certificate of the TLS handshake (RFC 4422 A).
    public static let external = SASLMechanismName(rawValue: "EXTERNAL")
    /// An access token of an authorization server, for use inside verified TLS only (RFC 7628).
    public static let oauthBearer = SASLMechanismName(rawValue: "OAUTHBEARER")
    /// The password itself, for use inside verified TLS only (RFC 4616).
    public static let plain = SASLMechanismName(rawValue: "PLAIN")
    /// A temporary account without a password (RFC 4505, XEP-0175).
    public static let anonymous = SASLMechanismName(rawValue: "ANONYMOUS")

    /// The name as it stands on the wire.
    public var description: String { rawValue }
}
