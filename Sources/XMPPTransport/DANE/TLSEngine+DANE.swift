// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

extension TLSEngine {
    private static let usageOfKey: UInt8 = 3

    /// Makes OpenSSL demand what DNS says (RFC 7671). Records that it cannot use are passed over (RFC 7671 §2.3);
    /// without one that it can, authorities count as if there were none.
    func demand(_ dane: DANEProof) throws(TLSError) {
        guard SSL_dane_enable(ssl, dane.host) > 0 else {
            throw TLSError.configuration("DANE is not available: \(OpenSSLErrors.drain().text)")
        }
        for record in dane.records {
            _ = SSL_dane_tlsa_add(
                ssl, record.usage, record.selector, record.matchingType, record.data, record.data.count)
        }
        ERR_clear_error()
        // Names are checked here, which OpenSSL would do too strictly: it knows the host alone.
        _ = SSL_dane_set_flags(ssl, UInt(DANE_FLAG_NO_DANE_EE_NAMECHECKS))
        X509_VERIFY_PARAM_set1_host(SSL_get0_param(ssl), nil, 0)
    }

    /// Notes which record the certificates were found to match, if one: OpenSSL forgets it when a handshake begins.
    func noteMatchedRecord() {
        var usage: UInt8 = 0
        let isMatched = dane != nil && SSL_get0_dane_tlsa(ssl, &usage, nil, nil, nil, nil) >= 0
        matchedUsage = isMatched ? usage : nil
    }

    /// Whether DNS names the very key, or certificate, of the server.
    var isProvenByKey: Bool { matchedUsage == Self.usageOfKey }

    /// How the server has proven itself.
    var proof: TLSProof? {
        if context.isServer { return nil }
        if context.pinnedKeys != nil || isProvenByDelegation { return .pinnedKey }
        return matchedUsage == nil ? .authority : .dane
    }

    /// Which names prove an identity: those of the domain, and those of the host that the domain names by a signed
    /// record (RFC 7673 §4).
    func isProven(_ identity: ReferenceIdentity) -> (PresentedName) -> Bool {
        guard matchedUsage != nil, let dane else { return identity.isProven(by:) }
        let host = ReferenceIdentity(domain: dane.host)
        return { identity.isProven(by: $0) || host.isProven(by: $0) }
    }
}
