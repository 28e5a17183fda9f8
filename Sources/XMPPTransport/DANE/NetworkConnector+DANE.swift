// SPDX-License-Identifier: Apache-2.0

extension NetworkConnector {
    /// What DNS says, with signatures that were verified, about the certificate of a place (RFC 7673 §3).
    ///
    /// A place that an SRV record names counts only if that record is signed: else anybody could name a host of their own, with
    /// keys of its own.
    package func proof(
        of target: ConnectionTarget, domain: String, isGiven: Bool
    ) async throws(ConnectError) -> DANEProof? {
        if case .webSocket = target.security { return nil }
        guard ConnectionPlanner.asksNameServers(about: target.host) else { return nil }
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
                    return nil
                }
            case .insecure: return nil
            case .bogus(let reason), .failed(let reason): throw .notVerifiable(name: name, detail: reason)
            }
        }
        let name = "_\(target.port)._tcp.\(target.host)"
        switch await verifier.verifiedKeys(for: name) {
        case .secure(let records):
            return records.isEmpty
                ? nil : DANEProof(host: target.host, records: Array(records.prefix(DANEProof.maximumRecords)))
        case .insecure: return nil
        case .bogus(let reason), .failed(let reason): throw .notVerifiable(name: name, detail: reason)
        }
    }
}
