// SPDX-License-Identifier: Apache-2.0

/// One TLSA record (RFC 6698 §2.1): what a server's certificate, or one above it, has to be.
package struct TLSARecord: Sendable, Hashable {
    /// How the record is to be used: 0 and 1 beside authorities, 2 in their place, 3 for the server's own key (RFC 7671
    /// §2.1).
    package let usage: UInt8
    /// What is compared: 0 the certificate, 1 its key.
    package let selector: UInt8
    /// How: 0 as it is, 1 by SHA-256, 2 by SHA-512.
    package let matchingType: UInt8
    /// What it is compared with.
    package let data: [UInt8]

    /// Makes a record.
    package init(usage: UInt8, selector: UInt8, matchingType: UInt8, data: [UInt8]) {
        self.usage = usage
        self.selector = selector
        self.matchingType = matchingType
        self.data = data
    }

    /// Reads the data of a record from a DNS answer.
    ///
    /// - Returns: `nil` when there is nothing to compare with.
    package init?(wireFormat bytes: [UInt8]) {
        guard bytes.count > 3 else { return nil }
        self.init(usage: bytes[0], selector: bytes[1], matchingType: bytes[2], data: Array(bytes[3...]))
    }
}

/// What DNS says, with a signature that was verified, about the certificate of one place (RFC 7673 §3).
package struct DANEProof: Sendable, Hashable {
    /// Records looked at; the rest is ignored.
    package static let maximumRecords = 32

    /// The host that the records are about: a certificate for it proves the domain as well, which has named it.
    package let host: String
    /// What the certificate has to be; at least one.
    package let records: [TLSARecord]

    /// Makes a proof.
    package init(host: String, records: [TLSARecord]) {
        self.host = host
        self.records = records
    }
}

/// What DNS says about the certificate of a place (RFC 7673 §3).
package enum DANEAnswer: Sendable, Hashable {
    /// It was not asked: the place is no name of DNS, or a web server.
    case notAsked
    /// Nothing, and that is signed.
    case absent
    /// Nothing that is signed, about the place or about its being the domain's.
    case insecure
    /// This, and it is signed.
    case secure(DANEProof)

    /// What the certificate has to be.
    package var proof: DANEProof? {
        if case .secure(let proof) = self { proof } else { nil }
    }
}

/// An answer of name servers, and what DNSSEC says of it (RFC 4035 §4.3).
package enum VerifiedAnswer<Record: Sendable & Hashable>: Sendable, Hashable {
    /// It is signed, and so is that there is nothing more; empty when there is nothing.
    case secure([Record])
    /// Nobody has signed it, or this side cannot tell; empty when there is nothing.
    case insecure([Record])
    /// It ought to be signed and is not, or not rightly: why, for people.
    case bogus(String)
    /// No usable answer: why, for people.
    case failed(String)
}
