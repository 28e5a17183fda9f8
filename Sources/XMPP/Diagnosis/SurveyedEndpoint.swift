// SPDX-License-Identifier: Apache-2.0

public import XMPPCore

/// One address at which a domain's service may be, and what was found there: as far as the stream's features and no
/// further.
public struct SurveyedEndpoint: Sendable, Hashable {
    /// One way for a server to prove itself, and whether it did.
    public struct Proof: Sendable, Hashable {
        /// The way.
        public var kind: ChannelSecurity.Proof
        /// Why it did not; `nil` when it did.
        public var refusal: XMPPError?
    }

    /// Where it is and how it is secured, as name servers, the domain's website or the user say.
    public var place: StreamPlace
    /// The address that was connected to, with its port; `nil` where the name has none, or a proxy looks it up.
    public var address: String?
    /// How long it took until the connection was open; `nil` when it was not.
    public var connectionTime: Duration?
    /// How long TLS took from there, STARTTLS included; `nil` when it was not reached.
    public var securingTime: Duration?
    /// How long it took from there until the server said what it offers; `nil` when it did not.
    public var featuresTime: Duration?
    /// How the channel is protected; `nil` when it is not, or the certificate was refused.
    public var security: ChannelSecurity?
    /// The certificates that were shown, the server's own first, be they refused.
    public var certificates: [ChannelSecurity.Certificate]
    /// How the server has proven itself, or why not: by authorities, by the keys that the account names, and by signed
    /// TLSA records where there are some.
    public var proofs: [Proof]
    /// What is offered before the login; `nil` when that was not reached.
    public var features: StreamFeatures?
    /// Where the server sends logins on to (RFC 6120 §4.9.3.19); the rest is about that place then.
    public var redirection: StreamPlace?
    /// Whether the address is of use in its own network alone, although a name led there.
    public var isPrivateAddress: Bool
    /// Why a login would fail here; `nil` when one could begin.
    public var error: XMPPError?

    /// Whether a login could begin here.
    public var isUsable: Bool { error == nil }

    /// The mechanisms offered, those for SASL2 (XEP-0388) first, each once.
    public var mechanisms: [String] {
        let newer = features?.sasl2Mechanisms ?? []
        return newer + (features?.mechanisms ?? []).filter { !newer.contains($0) }
    }
}
