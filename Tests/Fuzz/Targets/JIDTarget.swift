// SPDX-License-Identifier: Apache-2.0

@testable import XMPPCore

extension FuzzTarget {
    /// Any bytes, as a JID (RFC 7622) and as a name that a person typed (XEP-0106).
    static let jid = FuzzTarget(
        name: "jid",
        seeds: {
            FuzzVectors.column(0, of: "jids.tsv") + FuzzVectors.column(0, of: "jid-escape.tsv")
                + FuzzVectors.column(1, of: "jid-escape.tsv")
        }
    ) { bytes in
        let text = String(validating: bytes, as: UTF8.self)
        do {
            let jid = try JID(utf8: bytes)
            try require(text != nil, "a JID of what is not UTF-8")
            try checkPrepared(jid)
        } catch let error as JIDError {
            try require((error.reason == .notUTF8) == (text == nil), "\(error) for UTF-8: \(text != nil)")
            try require(!error.description.hasControls, "the description of \(error.reason) is not fit for a terminal")
        }
        guard let text else { return }
        if let layout = JID.Layout(plain: text) {
            let jid = try mustNotThrow("the short way takes what the long one refuses") { try JID(preparing: text) }
            try require(jid.description.isIdentical(to: text), "the long way changes what is plain")
            try require((jid.domainStart, jid.domainEnd) == (layout.domainStart, layout.domainEnd), "other offsets")
        }
        try checkEscaping(text)
    }

    /// A JID that exists is its own prepared form, in whatever way it is made again.
    private static func checkPrepared(_ jid: JID) throws {
        let again = try mustNotThrow("\(jid) cannot be read back") { try JID(jid.description) }
        try require(again == jid && again.description.isIdentical(to: jid.description), "\(jid) is not stable")
        for part in [jid.localpart, jid.domainpart, jid.resourcepart] {
            guard let part else { continue }
            try require((1...1023).contains(part.utf8.count), "a part of \(jid) has \(part.utf8.count) octets")
        }
        let parts = try mustNotThrow("\(jid) cannot be put together") {
            try JID(localpart: jid.localpart, domainpart: jid.domainpart, resourcepart: jid.resourcepart)
        }
        try require(parts == jid, "\(jid) put together is \(parts)")
        try require(jid.bare.isBare && jid.bare.bare == jid.bare, "the bare JID of \(jid)")
        try require(jid.domain.isDomain && jid.bare.domain == jid.domain, "the domain of \(jid)")
        try require(jid.isFull == (jid.resourcepart != nil), "whether \(jid) is full")
        if let resource = jid.resourcepart {
            let full = try mustNotThrow("\(resource) is no resource") { try jid.bare.withResource(resource) }
            try require(full == jid, "\(jid) with its resource is \(full)")
        }
        let ascii = jid.asciiDomain
        try require(ascii.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "the A-labels of \(jid)")
        let domain = try mustNotThrow("the A-labels of \(jid) are no domain") { try JID(ascii) }
        try require(domain == jid.domain, "the A-labels \(ascii) of \(jid) mean \(domain)")
    }

    private static func checkEscaping(_ text: String) throws {
        guard let escaped = JID.escapeLocalpart(text) else {
            return try require(text.utf8.first == 0x20 || text.utf8.last == 0x20, "“\(text)” is not escaped")
        }
        try require(JID.unescapeLocalpart(escaped).isIdentical(to: text), "“\(text)” comes back otherwise")
        let forbidden = escaped.unicodeScalars.contains { " \"&'/:<>@".unicodeScalars.contains($0) }
        try require(!forbidden, "“\(escaped)” is not fit for a localpart")
    }
}
