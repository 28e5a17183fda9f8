// SPDX-License-Identifier: Apache-2.0

import SocketIO
import XMPPTransport

@testable import XMPP

/// Name servers that a test has written, for every kind of question; every name that they do not know leads to this
/// machine.
struct SurveyZone: ServiceResolver, VerifyingResolver, AddressResolver {
    var services: [String: VerifiedAnswer<SRVRecord>] = [:]
    var keys: [String: VerifiedAnswer<TLSARecord>] = [:]
    var hosts: [String: [SocketAddress]] = [:]
    var canVerify = true
    /// Whether no question is ever answered.
    var isSilent = false

    private func wait() async {
        guard isSilent else { return }
        let never = Handover<Void>()
        await withTaskCancellationHandler {
            await never.value()
        } onCancel: {
            never.give(())
        }
    }

    func records(for name: String) async -> SRVAnswer {
        await wait()
        switch services[name] {
        case .secure(let records)?, .insecure(let records)?: return records.isEmpty ? .none : .records(records)
        case .bogus(let reason)?, .failed(let reason)?: return .failed(reason)
        case nil: return .none
        }
    }

    func verifiedServices(for name: String) async -> VerifiedAnswer<SRVRecord> {
        await wait()
        return services[name] ?? .insecure([])
    }

    func verifiedKeys(for name: String) async -> VerifiedAnswer<TLSARecord> {
        await wait()
        return keys[name] ?? .insecure([])
    }

    func verifiedAddresses(for name: String, _ family: AddressFamily) async -> VerifiedAnswer<SocketAddress> {
        await wait()
        return .secure((hosts[name] ?? []).filter { $0.isIPv6 == (family == .ipv6) })
    }

    func addresses(of host: String, port: UInt16) async throws(ConnectError) -> [SocketAddress] {
        await wait()
        if Task.isCancelled { throw .cancelled }
        guard let addresses = hosts[host] else { throw .hostNotFound(name: host, detail: "no such name") }
        return addresses.compactMap { SocketAddress(hostBytes: $0.hostBytes, port: port) }
    }

    /// A connector that asks these.
    var connector: NetworkConnector { NetworkConnector(services: self, verifier: self, addresses: self) }

    /// A zone that names these ports of xmpp.example.net.
    static func naming(startTLS: [UInt16], directTLS: [UInt16] = []) -> SurveyZone {
        func records(_ ports: [UInt16]) -> VerifiedAnswer<SRVRecord> {
            .secure(
                ports.enumerated().map {
                    SRVRecord(priority: UInt16($0.offset), weight: 5, port: $0.element, target: "xmpp.example.net")
                })
        }
        var zone = SurveyZone()
        zone.services["_xmpp-client._tcp.example.net"] = records(startTLS)
        zone.services["_xmpps-client._tcp.example.net"] = records(directTLS)
        zone.hosts["xmpp.example.net"] = [.loopback(port: 0)]
        return zone
    }
}
