// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPTransport

/// What name servers say about the places of a domain (RFC 6120 §3.2.1, XEP-0368), for people to see.
package enum ServiceRecords {
    /// The SRV records of a domain, one line each, direct TLS first.
    ///
    /// - Parameter jid: An address of the domain.
    /// - Returns: The records; empty when there are none, or the domain is one that name servers are not asked about.
    /// - Throws: ``XMPPError`` with ``XMPPError/Code/resolverFailed`` when neither question was answered.
    package static func lines(for jid: JID) async throws(XMPPError) -> [String] {
        let domain = jid.connectDomain
        guard ConnectionPlanner.asksNameServers(about: domain) else { return [] }
        let resolver = UnboundResolver()
        async let direct = resolver.records(for: "_xmpps-client._tcp.\(domain)")
        async let plain = resolver.records(for: "_xmpp-client._tcp.\(domain)")
        let answers = await [("_xmpps-client._tcp", direct), ("_xmpp-client._tcp", plain)]
        var lines: [String] = []
        var failures: [String] = []
        for (name, answer) in answers {
            switch answer {
            case .records(let records):
                lines += records.map { record in
                    let target = record.isRefusal ? "not offered" : "\(record.target):\(record.port)"
                    return "\(name) \(record.priority) \(record.weight) \(target)"
                }
            case .none: break
            case .failed(let reason): failures.append(reason)
            }
        }
        if failures.count == answers.count, let reason = failures.first {
            throw XMPPError(.resolverFailed, "The name servers did not answer about \(domain): \(reason).")
        }
        return lines
    }
}
