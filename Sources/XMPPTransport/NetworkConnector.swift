// SPDX-License-Identifier: Apache-2.0

package import SocketIO

/// The real network: SRV records through libunbound, addresses through the system, IPv6 and IPv4 raced.
package struct NetworkConnector: StreamConnector {
    /// Web servers are on the network too.
    package var reachesWeb: Bool { true }

    package var choosesAddresses: Bool { true }

    package var names: NameSources? { NameSources(verifier: verifier, addresses: addresses) }

    private let services: any ServiceResolver
    let verifier: any VerifyingResolver
    private let addresses: any AddressResolver
    private let clock: any StreamClock
    private let timing: ConnectionRace.Timing
    private let makeGenerator: @Sendable () -> any RandomNumberGenerator

    /// Makes a connector; every part can be replaced.
    ///
    /// - Parameters:
    ///   - services: Asks for SRV records.
    ///   - verifier: Asks for records whose signatures are verified.
    ///   - addresses: Asks for addresses.
    ///   - clock: Where time comes from.
    ///   - timing: Stagger and deadline of addresses.
    ///   - generator: Makes the source of the choice by weight.
    package init(
        services: any ServiceResolver = UnboundResolver(),
        verifier: any VerifyingResolver = UnboundResolver(),
        addresses: any AddressResolver = SystemAddressResolver(),
        clock: any StreamClock = SystemClock(),
        timing: ConnectionRace.Timing = ConnectionRace.Timing(),
        generator: @escaping @Sendable () -> any RandomNumberGenerator = { SystemRandomNumberGenerator() }
    ) {
        self.services = services
        self.verifier = verifier
        self.addresses = addresses
        self.clock = clock
        self.timing = timing
        makeGenerator = generator
    }

    /// The places to try for a domain, in order.
    package func targets(
        for domain: String, override: ConnectionTarget?
    ) async throws(ConnectError) -> [ConnectionTarget] {
        if let override { return [override] }
        guard ConnectionPlanner.asksNameServers(about: domain) else { return ConnectionPlanner.fallback(for: domain) }
        let name = domain.hasSuffix(".") ? String(domain.dropLast()) : domain
        async let direct = services.records(for: "_xmpps-client._tcp.\(name)")
        async let plain = services.records(for: "_xmpp-client._tcp.\(name)")
        let answers = await (startTLS: plain, directTLS: direct)
        if Task.isCancelled { throw ConnectError.cancelled }
        var generator = AnyGenerator(makeGenerator())
        return try ConnectionPlanner.targets(
            for: name, startTLS: answers.startTLS, directTLS: answers.directTLS, using: &generator)
    }

    /// Connects to one place: all its addresses are raced.
    package func connect(
        to target: ConnectionTarget, on executor: StreamExecutor
    ) async throws(ConnectError) -> any ByteTransport {
        let found: [SocketAddress]
        if let literal = SocketAddress(literal: target.host, port: target.port) {
            found = [literal]
        } else {
            found = try await addresses.addresses(of: target.host, port: target.port)
        }
        if Task.isCancelled { throw ConnectError.cancelled }
        let left = found.filter { !target.avoided.contains($0) }
        guard !left.isEmpty || target.avoided.isEmpty else { throw .noOtherAddress(host: target.description) }
        return try await ConnectionRace.run(
            host: target.description, addresses: left, on: executor, clock: clock, timing: timing)
    }
}

/// A generator whose type is not known.
private struct AnyGenerator: RandomNumberGenerator {
    private var base: any RandomNumberGenerator

    init(_ base: any RandomNumberGenerator) {
        self.base = base
    }

    mutating func next() -> UInt64 {
        base.next()
    }
}
