// SPDX-License-Identifier: Apache-2.0

import SocketIO
import XMPPTestSupport
import XMPPTransport

@testable import XMPP

/// Places on this machine, in the order in which a domain names them; port 0 is out of reach: no answer ever comes from
/// there.
struct FixedPlaces: StreamConnector {
    let places: [ConnectionTarget]
    /// When this is given, the place of that name fails.
    let failure = Handover<Void>()
    /// Whether it leaves out the addresses that were gone to.
    var choosesAddresses = true
    private let network: NetworkConnector

    init(_ places: [ConnectionTarget], network: NetworkConnector = NetworkConnector()) {
        self.places = places
        self.network = network
    }

    func targets(for domain: String, override: ConnectionTarget?) async throws(ConnectError) -> [ConnectionTarget] {
        places
    }

    func connect(
        to target: ConnectionTarget, on executor: StreamExecutor
    ) async throws(ConnectError) -> any ByteTransport {
        if target.host == "failing.later" {
            await failure.value()
            throw ConnectError.allAddressesFailed(host: target.host, [])
        }
        guard target.host != "black.hole" else {
            let never = Handover<Void>()
            await withTaskCancellationHandler {
                await never.value()
            } onCancel: {
                never.give(())
            }
            throw ConnectError.cancelled
        }
        return try await network.connect(to: target, on: executor)
    }
}

/// One host with these addresses, in this order.
struct FixedAddresses: AddressResolver {
    let addresses: [SocketAddress]

    func addresses(of host: String, port: UInt16) async throws(ConnectError) -> [SocketAddress] { addresses }
}

/// A place on this machine.
func place(
    _ port: UInt16?, _ security: ConnectionTarget.Security = .startTLS, priority: UInt16 = 0
) throws -> ConnectionTarget {
    guard let port else { throw TestSupportError("the server has no such port") }
    return ConnectionTarget(host: "127.0.0.1", port: port, security: security, priority: priority)
}

/// Romeo's account at a server whose domain names these places.
func racing(
    _ server: LoopbackServer, _ places: [ConnectionTarget], _ clock: TestClock
) async throws -> XMPPConfiguration {
    var configuration = try await server.configuration(for: "romeo")
    configuration.host = nil
    configuration.port = nil
    configuration.connector = FixedPlaces(places)
    configuration.use(clock)
    return configuration
}
