// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import SocketIO
internal import XMPP

extension XMPPStream {
    /// How the channel is protected and what the login took, as `status` and `diag` tell it: the keys `security` and
    /// `phases`.
    func securityDocument() -> JSONObject {
        var document: JSONObject = [:]
        if let security {
            var protection = JSONObject(present: [
                "version": .string(security.version), "cipher": .string(security.cipher),
                "resumed": .bool(security.isResumed),
                "mechanism": mechanism.map(JSONValue.string), "channelBinding": channelBinding.map(JSONValue.string),
                "roundTrips": loginRoundTrips.map { .integer(Int64($0)) },
            ])
            protection.merge(SecurityDocument.certificate(security, change: keyChange))
            document["security"] = .object(protection)
        }
        if !loginPhases.isEmpty {
            document["phases"] = .array(
                loginPhases.map { phase in
                    [
                        "phase": .string(phase.name.rawValue), "milliseconds": .number(phase.duration.milliseconds),
                        "roundTrips": .integer(Int64(phase.roundTrips)),
                    ]
                })
        }
        return document
    }
}

/// How a server has proven itself.
enum SecurityDocument {
    /// The certificate, and what made it count.
    static func certificate(_ security: ChannelSecurity, change: ServerKeyChange?) -> JSONObject {
        JSONObject(present: [
            "verified": .string(word(security.proof)), "tlsa": security.tlsa.map { .string($0.rawValue) },
            "name": security.matchedName.map(JSONValue.string),
            "issuer": .string(security.issuer), "notAfter": .string(security.notAfter),
            "fingerprint": .string(security.fingerprint.hexadecimal),
            "key": security.keyFingerprint.map { .string($0.description) },
            "previousKey": change.map { .string($0.old.fingerprint.description) },
            "chain": .array(
                security.certificates.map { certificate in
                    [
                        "subject": .string(certificate.subject), "issuer": .string(certificate.issuer),
                        "notAfter": .string(certificate.notAfter),
                        "fingerprint": .string(certificate.fingerprint.hexadecimal),
                    ]
                }),
        ])
    }

    /// The setting that asks for a proof of this kind.
    static func word(_ proof: ChannelSecurity.Proof) -> String {
        switch proof {
        case .authority: AccountConfiguration.Trust.pkix.rawValue
        case .pinnedKey: AccountConfiguration.Trust.pin.rawValue
        case .dane: AccountConfiguration.Trust.dane.rawValue
        }
    }
}
