// SPDX-License-Identifier: Apache-2.0

/// The namespace URIs that the core protocol uses. Extensions keep their own beside their code.
public enum Namespace {
    /// Stanzas of a client-to-server stream (RFC 6120 §4.8.3).
    public static let client = "jabber:client"
    /// The stream's root, its features and its errors (RFC 6120 §4.8.1).
    public static let streams = "http://etherx.jabber.org/streams"
    /// `<open/>` and `<close/>` of a stream over WebSocket (RFC 7395 §3.3.2).
    public static let framing = "urn:ietf:params:xml:ns:xmpp-framing"
    /// Conditions of stream errors (RFC 6120 §4.9).
    public static let streamErrors = "urn:ietf:params:xml:ns:xmpp-streams"
    /// STARTTLS negotiation (RFC 6120 §5).
    public static let startTLS = "urn:ietf:params:xml:ns:xmpp-tls"
    /// SASL negotiation (RFC 6120 §6).
    public static let sasl = "urn:ietf:params:xml:ns:xmpp-sasl"
    /// Resource binding (RFC 6120 §7).
    public static let bind = "urn:ietf:params:xml:ns:xmpp-bind"
    /// Session establishment of the older RFC 3921; servers that still require it say so.
    public static let session = "urn:ietf:params:xml:ns:xmpp-session"
    /// Conditions of stanza errors (RFC 6120 §8.3).
    public static let stanzaErrors = "urn:ietf:params:xml:ns:xmpp-stanzas"
    /// The roster (RFC 6121 §2).
    public static let roster = "jabber:iq:roster"
    /// Stream feature of roster versioning (RFC 6121 §2.6).
    public static let rosterVersioning = "urn:xmpp:features:rosterver"
    /// Stream feature of subscription pre-approval (RFC 6121 §3.4).
    public static let preApproval = "urn:xmpp:features:pre-approval"
    /// Stream Management (XEP-0198).
    public static let streamManagement = "urn:xmpp:sm:3"
    /// XMPP Ping (XEP-0199).
    public static let ping = "urn:xmpp:ping"
    /// Delayed Delivery (XEP-0203).
    public static let delay = "urn:xmpp:delay"
    /// Legacy Delayed Delivery (XEP-0091), which old servers and gateways still write.
    public static let legacyDelay = "jabber:x:delay"
    /// Stream Limits Advertisement (XEP-0478).
    public static let streamLimits = "urn:xmpp:stream-limits:0"
    /// SASL Channel-Binding Type Capability (XEP-0440).
    public static let saslChannelBinding = "urn:xmpp:sasl-cb:0"
    /// Extensible SASL Profile, "SASL2" (XEP-0388).
    public static let sasl2 = "urn:xmpp:sasl:2"
    /// Bind 2 (XEP-0386).
    public static let bind2 = "urn:xmpp:bind:0"
    /// SASL Upgrade Tasks (XEP-0480).
    public static let saslUpgrade = "urn:xmpp:sasl:upgrade:0"
    /// What a SCRAM upgrade exchanges (XEP-0480 §3).
    public static let scramUpgrade = "urn:xmpp:scram-upgrade:0"
    /// Initial Authentication Pipelining (XEP-0509).
    public static let initialPipelining = "urn:xmpp:iap:0"
    /// Fast Authentication Streamlining Tokens (XEP-0484).
    public static let fast = "urn:xmpp:fast:0"
    /// Stream feature of In-Band Registration (XEP-0077 §8).
    public static let registrationFeature = "http://jabber.org/features/iq-register"
    /// Stream feature of Pre-Authenticated In-Band Registration (XEP-0445 §3).
    public static let invitedRegistration = "urn:xmpp:ibr-token:0"
}
