// SPDX-License-Identifier: Apache-2.0

extension NetworkConnector {
    /// What DNS says, with signatures that were verified, about the certificate of a place (RFC 7673 §3).
    ///
    /// A place that an SRV record names counts only if that record is signed: else anybody could name a host of their
    /// own, with keys of its own.
    package func proof(
        of target: ConnectionTarget, domain: String, isGiven: Bool
    ) async throws(ConnectError) -> DANEAnswer {
        if case .webSocket = target.security { return .notAsked }
        guard ConnectionPlanner.asksNameServers(about: target.host) else { return .notAsked }
        guard verifier.canVerify else {
            throw .notVerifiable(
                name: target.host,
                detail: "this machine has no keys of the DNS root; Debian has them in the package dns-root-data")
        }
        if !isGiven, target.host != domain {
            let service = target.security == .directTLS ? "_xmpps-client" : "_xmpp-client"
            let name = "\(service)._tcp.\(domain)"
            switch await verifier.verifiedServices(for: name) {
            case .secure(let records):
                guard records.contains(where: { $0.target == target.host && $0.port == target.port }) else {
                    return .insecure
                }
            case .insecure: return .insecure
            case .bogus(let reason), .failed(let reason): throw .notVerifiable(name: name, detail: reason)
            }
        }
        let name = "_\(target.port)._tcp.\(target.host)"
        switch await verifier.verifiedKeys(for: name) {
        case .secure(let records):
            guard !records.isEmpty else { return .absent }
            let counted = Array(records.prefix(DANEProof.maximumRecords))
            return .secure(DANEProof(host: target.host, records: counted))
        case .insecure: return .insecure
        case .bogus(let reason), .failed(let reason): throw .notVerifiable(name: name, detail: reason)
        }
    }
}
