// SPDX-License-Identifier: Apache-2.0

internal import SocketIO

/// Decides which places to try for a domain, and in which order. Pure: answers and randomness come in.
package enum ConnectionPlanner {
    /// Targets tried at most: an answer with a thousand records must not keep a client busy for hours.
    package static let maximumTargets = 32

    /// Whether name servers are asked about a domain at all.
    ///
    /// Not for an address literal, `localhost` (RFC 6761 §6.3) and `.local` names (RFC 6762 §3): these have no SRV
    /// records in the DNS, and their addresses come from the system.
    package static func asksNameServers(about domain: String) -> Bool {
        let name = domain.hasSuffix(".") ? String(domain.dropLast()) : domain
        if SocketAddress(literal: name, port: 0) != nil { return false }
        let lower = name.lowercased()
        return !(lower == "localhost" || lower.hasSuffix(".localhost") || lower.hasSuffix(".local"))
    }

    /// Where to go without SRV records: the domain itself, port 5222, STARTTLS (RFC 6120 §3.2.2).
    package static func fallback(for domain: String) -> [ConnectionTarget] {
        var host = domain
        if let address = SocketAddress(literal: domain, port: 0) { host = address.host }
        if host.hasSuffix(".") { host.removeLast() }
        return [ConnectionTarget(host: host, security: .startTLS)]
    }

    /// The targets in the order to try them.
    ///
    /// - Parameters:
    ///   - domain: The JID's domain as an A-label.
    ///   - startTLS: What was said about `_xmpp-client._tcp`.
    ///   - directTLS: What was said about `_xmpps-client._tcp`.
    ///   - generator: Where the choice by weight comes from.
    /// - Throws: ``ConnectError/serviceNotAvailable(domain:)`` when the domain says that it offers no such service.
    package static func targets(
        for domain: String, startTLS: SRVAnswer, directTLS: SRVAnswer,
        using generator: inout some RandomNumberGenerator
    ) throws(ConnectError) -> [ConnectionTarget] {
        var entries: [Entry] = []
        var wasRefused = false
        for (answer, security) in [(directTLS, ConnectionTarget.Security.directTLS), (startTLS, .startTLS)] {
            guard case .records(let records) = answer else { continue }
            // RFC 2782: "." says that the service is decidedly not available; there is no way around by A or AAAA.
            if records.allSatisfy(\.isRefusal) { wasRefused = true }
            entries += records.lazy.filter { !$0.isRefusal }.map { Entry(record: $0, security: security) }
        }
        if entries.isEmpty {
            // RFC 6120 §3.2.1: the fallback is for domains without SRV records only.
            if wasRefused { throw ConnectError.serviceNotAvailable(domain: domain) }
            return fallback(for: domain)
        }
        return order(entries, using: &generator).prefix(maximumTargets).map {
            ConnectionTarget(
                host: $0.record.target, port: $0.record.port, security: $0.security, priority: $0.priority)
        }
    }

    private struct Entry: RankedPlace {
        let record: SRVRecord
        let security: ConnectionTarget.Security

        var priority: UInt16 { record.priority }
        var weight: UInt16 { record.weight }
    }

    /// The order to try places in: by priority; within one, drawn by weight (RFC 2782). ``maximumTargets`` of them at
    /// most.
    ///
    /// XEP-0368 §4: several services are mixed as if they were one.
    ///
    /// - Parameters:
    ///   - entries: The places.
    ///   - generator: Where the choice by weight comes from.
    package static func order<Place: RankedPlace>(
        _ entries: [Place], using generator: inout some RandomNumberGenerator
    ) -> [Place] {
        let groups = Dictionary(grouping: entries) { $0.priority }
        var result: [Place] = []
        for priority in groups.keys.sorted() {
            // Those of weight 0 first, so that they have a small chance and not none.
            var rest = (groups[priority] ?? []).shuffled(using: &generator)
            rest = rest.filter { $0.weight == 0 } + rest.filter { $0.weight != 0 }
            while !rest.isEmpty, result.count < maximumTargets {
                let total = rest.reduce(0) { $0 + Int($1.weight) }
                let chosen = Int.random(in: 0...total, using: &generator)
                var sum = 0
                let index = rest.firstIndex { entry in
                    sum += Int(entry.weight)
                    return sum >= chosen
                }
                result.append(rest.remove(at: index ?? 0))
            }
        }
        return result
    }
}

/// A place with a rank among others (RFC 2782).
package protocol RankedPlace {
    /// Lower numbers come first.
    var priority: UInt16 { get }
    /// The share of first places among those of one priority.
    var weight: UInt16 { get }
}
