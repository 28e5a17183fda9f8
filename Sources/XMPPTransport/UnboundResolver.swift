// SPDX-License-Identifier: Apache-2.0

package import SocketIO

/// SRV and TLSA records through libunbound.
///
/// Each look-up has a context of its own: it reads the system's list of name servers anew, so that a machine that has
/// moved to another network needs no restart.
package struct UnboundResolver: ServiceResolver, VerifyingResolver {
    /// Which name servers to ask.
    package enum NameServers: Sendable, Hashable {
        /// Those in /etc/resolv.conf.
        case system
        /// One at a given address, which asks others.
        case at(SocketAddress)
        /// One at a given address, which knows one zone itself; for tests.
        case zone(String, at: SocketAddress)
    }

    /// How long a look-up may take. Default 4 seconds: with the look-up of addresses after it, 10 seconds in all.
    package static let defaultTimeout: Duration = .seconds(4)
    /// How long a look-up with signatures may take: there is a chain of them from the root. 8 seconds.
    package static let verifyingTimeout: Duration = .seconds(8)

    private static let typeSRV: Int32 = 33
    private static let typeTLSA: Int32 = 52
    private static let typeA: Int32 = 1
    private static let typeAAAA: Int32 = 28

    private let nameServers: NameServers
    private let timeout: Duration
    private let trustedKeys: TrustedKeys

    /// Makes a resolver.
    ///
    /// - Parameters:
    ///   - nameServers: Which name servers to ask.
    ///   - timeout: How long a look-up may take; one with signatures takes ``verifyingTimeout`` if that is longer.
    ///   - trustedKeys: Where signatures begin.
    package init(
        nameServers: NameServers = .system, timeout: Duration = UnboundResolver.defaultTimeout,
        trustedKeys: TrustedKeys = .system
    ) {
        self.nameServers = nameServers
        self.timeout = timeout
        self.trustedKeys = trustedKeys
    }

    /// The SRV records of a name. Signatures are not asked for: the certificate proves the domain, wherever it is
    /// shown.
    package func records(for name: String) async -> SRVAnswer {
        switch await ask(name, Self.typeSRV, trustedKeys: nil, timeout) {
        case .data(let list, _):
            let records = list.compactMap { SRVRecord(wireFormat: $0) }
            return records.isEmpty ? .failed("the name servers' answer is malformed") : .records(records)
        case .none: return .none
        case .bogus(let reason), .failed(let reason): return .failed(reason)
        }
    }

    /// Whether the system has keys to verify signatures with; always where they were given.
    package var canVerify: Bool {
        switch trustedKeys {
        case .system: TrustedKeys.file != nil
        case .records: true
        }
    }

    /// The SRV records of a name, and whether they are signed.
    package func verifiedServices(for name: String) async -> VerifiedAnswer<SRVRecord> {
        await verified(name, Self.typeSRV) { SRVRecord(wireFormat: $0) }
    }

    /// The TLSA records of a name, and whether they are signed.
    package func verifiedKeys(for name: String) async -> VerifiedAnswer<TLSARecord> {
        await verified(name, Self.typeTLSA) { TLSARecord(wireFormat: $0) }
    }

    /// The addresses of one family that name servers have for a name, and whether they are signed.
    package func verifiedAddresses(
        for name: String, _ family: AddressFamily
    ) async -> VerifiedAnswer<SocketAddress> {
        await verified(name, family == .ipv4 ? Self.typeA : Self.typeAAAA) { SocketAddress(hostBytes: $0) }
    }

    /// Where this side has no keys, everything is as if nobody had signed it.
    private func verified<Record>(
        _ name: String, _ type: Int32, _ read: ([UInt8]) -> Record?
    ) async -> VerifiedAnswer<Record> {
        switch await ask(name, type, trustedKeys: canVerify ? trustedKeys : nil, max(timeout, Self.verifyingTimeout)) {
        case .data(let list, let isSecure):
            let records = list.compactMap(read)
            return isSecure ? .secure(records) : .insecure(records)
        case .none(let isSecure): return isSecure ? .secure([]) : .insecure([])
        case .bogus(let reason): return .bogus(reason)
        case .failed(let reason): return .failed(reason)
        }
    }

    private func ask(
        _ name: String, _ type: Int32, trustedKeys: TrustedKeys?, _ timeout: Duration
    ) async -> UnboundLookup.Answer {
        let answer = Handover<UnboundLookup.Answer>()
        let lookup = UnboundLookup(
            name: name, type: type, nameServers: nameServers, trustedKeys: trustedKeys, timeout: timeout, answer: answer
        )
        return await withTaskCancellationHandler {
            lookup.start()
            return await answer.value()
        } onCancel: {
            lookup.cancel()
        }
    }
}
