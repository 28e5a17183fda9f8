// SPDX-License-Identifier: Apache-2.0

package import SocketIO

/// Finds the places of a domain and connects to them: the network, or a test's stand-in for it.
package protocol StreamConnector: Sendable {
    /// Whether web servers can be connected to as well, at their port 443. A stand-in for one server has none.
    var reachesWeb: Bool { get }

    /// Whether it leaves out the addresses that a target names as gone to already (``ConnectionTarget/avoiding(_:)``).
    /// One that does not would come to the same address again, so it is sent to each place once.
    var choosesAddresses: Bool { get }

    /// Whom it asks about names, for those who look at the answers themselves; `nil` where nobody is asked.
    var names: NameSources? { get }

    /// The places to try for a domain, in order; at least one.
    ///
    /// - Parameters:
    ///   - domain: The JID's domain as an A-label or address literal.
    ///   - override: A place that the user names; then nothing is looked up.
    /// - Throws: ``ConnectError`` when the domain offers no service, or the task was cancelled.
    func targets(
        for domain: String, override: ConnectionTarget?
    ) async throws(ConnectError) -> [ConnectionTarget]

    /// What DNS says, with signatures that were verified, about the certificate of a place (RFC 7673 §3).
    ///
    /// - Parameters:
    ///   - target: A place of the domain, or one that the user names.
    ///   - domain: The JID's domain as an A-label.
    ///   - isGiven: Whether the user has named the place: then it needs no SRV record.
    /// - Throws: ``ConnectError/notVerifiable(name:detail:)`` when signatures are missing or wrong, or cannot be had.
    func proof(
        of target: ConnectionTarget, domain: String, isGiven: Bool
    ) async throws(ConnectError) -> DANEAnswer

    /// Connects to one place: all its addresses are tried. Cancelling the task closes everything.
    ///
    /// - Parameters:
    ///   - target: Where to connect to.
    ///   - executor: Whose queue the transport will belong to.
    /// - Returns: A connected transport that is not yet started, without TLS.
    /// - Throws: ``ConnectError`` with the reason for every address.
    func connect(
        to target: ConnectionTarget, on executor: StreamExecutor
    ) async throws(ConnectError) -> any ByteTransport
}

extension StreamConnector {
    /// No.
    package var reachesWeb: Bool { false }

    /// No.
    package var choosesAddresses: Bool { false }

    /// Nobody.
    package var names: NameSources? { nil }

    /// It is not asked.
    package func proof(
        of target: ConnectionTarget, domain: String, isGiven: Bool
    ) async throws(ConnectError) -> DANEAnswer { .notAsked }
}

/// Asks name servers for SRV records: libunbound, or a test's stand-in.
package protocol ServiceResolver: Sendable {
    /// The SRV records of `name`, for example `_xmpp-client._tcp.example.org`. Bounded in time; honours cancellation.
    func records(for name: String) async -> SRVAnswer
}

/// Asks name servers for records whose signatures are verified: libunbound, or a test's stand-in.
package protocol VerifyingResolver: Sendable {
    /// Whether there are keys to verify signatures with.
    var canVerify: Bool { get }

    /// The SRV records of `name`. Bounded in time; honours cancellation.
    func verifiedServices(for name: String) async -> VerifiedAnswer<SRVRecord>

    /// The TLSA records of `name`, for example `_5222._tcp.xmpp.example.org`. Bounded in time; honours cancellation.
    func verifiedKeys(for name: String) async -> VerifiedAnswer<TLSARecord>

    /// The addresses of one family that name servers have for `name`, without port. Bounded in time; honours
    /// cancellation.
    func verifiedAddresses(for name: String, _ family: AddressFamily) async -> VerifiedAnswer<SocketAddress>
}

extension VerifyingResolver {
    /// None.
    package func verifiedAddresses(
        for name: String, _ family: AddressFamily
    ) async -> VerifiedAnswer<SocketAddress> { .insecure([]) }
}

/// A kind of address that name servers know.
package enum AddressFamily: String, Sendable, Hashable, CaseIterable {
    /// IPv4 (RFC 1035 §3.4.1).
    case ipv4 = "A"
    /// IPv6 (RFC 3596 §2.1).
    case ipv6 = "AAAA"
}

/// Whom a connector asks about names.
package struct NameSources: Sendable {
    /// Asks for records whose signatures are verified.
    package let verifier: any VerifyingResolver
    /// Asks for the addresses that are connected to.
    package let addresses: any AddressResolver
}

/// Asks for the addresses of a host: `getaddrinfo`, or a test's stand-in.
package protocol AddressResolver: Sendable {
    /// The addresses of a host with the port filled in, in the system's order; at least one.
    ///
    /// - Throws: ``ConnectError/hostNotFound(name:detail:)``, ``ConnectError/resolverFailed(name:detail:)``,
    ///   ``ConnectError/timedOut(name:within:)`` or ``ConnectError/cancelled``.
    func addresses(of host: String, port: UInt16) async throws(ConnectError) -> [SocketAddress]
}
