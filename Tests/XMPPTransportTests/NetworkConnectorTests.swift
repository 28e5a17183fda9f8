// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import SocketIO
import Testing
import XMPPTestSupport

@testable import XMPPTransport

/// Gives the same addresses for every host.
private struct FixedAddresses: AddressResolver {
    let list: [SocketAddress]

    func addresses(of host: String, port: UInt16) async throws(ConnectError) -> [SocketAddress] {
        list
    }
}

@Suite(.timeLimit(.minutes(5))) struct NetworkConnectorTests {
    private let executor = StreamExecutor()

    private func listener(backlog: Int32 = 16) throws -> ListeningSocket {
        try ListeningSocket(.loopback(port: 0), on: executor, backlog: backlog)
    }

    private func connect(_ addresses: [SocketAddress], stagger: Duration = .milliseconds(20)) async throws
        -> SocketAddress?
    {
        let connector = NetworkConnector(
            addresses: FixedAddresses(list: addresses),
            timing: ConnectionRace.Timing(stagger: stagger, addressTimeout: .seconds(10)))
        let transport = try await connector.connect(to: ConnectionTarget(host: "server.example"), on: executor)
        let peer = (transport as? SocketTransport)?.peerAddress
        executor.queue.sync { transport.abort() }
        return peer
    }

    @Test("families take turns, each in its own order (RFC 8305 §4)")
    func interleaves() throws {
        func address(_ text: String) throws -> SocketAddress { try #require(SocketAddress(literal: text, port: 1)) }
        let four = try ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map(address)
        let six = try ["2001:db8::1", "2001:db8::2"].map(address)
        #expect(ConnectionRace.interleaved(six + four) == [six[0], four[0], six[1], four[1], four[2]])
        #expect(ConnectionRace.interleaved(four + six) == [four[0], six[0], four[1], six[1], four[2]])
        #expect(ConnectionRace.interleaved([]).isEmpty)
    }

    @Test("the next address is tried at once after a refusal, without waiting for the stagger")
    func refusalThenSuccess() async throws {
        let dead = try listener()
        let refused = dead.address
        executor.queue.sync { dead.close() }
        let live = try listener()
        #expect(try await connect([refused, live.address], stagger: .seconds(3600)) == live.address)
        executor.queue.sync { live.close() }
    }

    @Test("an address that does not answer is overtaken by the next one")
    func overtakes() async throws {
        let full = try listener(backlog: 0)
        var fillers: [Int32] = []
        for _ in 0..<3 {
            let filler = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
            _ = full.address.withSockaddr { Glibc.connect(filler, $0, $1) }
            fillers.append(filler)
        }
        let live = try listener()
        #expect(try await connect([full.address, live.address]) == live.address)
        for filler in fillers { close(filler) }
        executor.queue.sync {
            live.close(); full.close()
        }
    }

    @Test("when all fail, every address and its reason is named")
    func allFail() async throws {
        let dead = [try listener(), try listener()]
        let addresses = dead.map(\.address)
        executor.queue.sync { for listener in dead { listener.close() } }
        let error = await #expect(throws: ConnectError.self) { _ = try await connect(addresses) }
        guard case .allAddressesFailed(_, let attempts)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(Set(attempts.map(\.address)) == Set(addresses.map(\.description)))
        #expect(error?.description.contains("nothing listens there") == true)
        #expect(error?.description.contains("server.example:5222") == true)
    }

    @Test("cancelling closes everything")
    func cancels() async throws {
        let full = try listener(backlog: 0)
        var fillers: [Int32] = []
        for _ in 0..<3 {
            let filler = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
            _ = full.address.withSockaddr { Glibc.connect(filler, $0, $1) }
            fillers.append(filler)
        }
        let address = full.address
        let task = Task { try await connect([address]) }
        await Task.yield()
        task.cancel()
        await #expect(throws: ConnectError.cancelled) { _ = try await task.value }
        for filler in fillers { close(filler) }
        executor.queue.sync { full.close() }
    }

    @Test("an address literal needs no look-up")
    func literal() async throws {
        let live = try listener()
        let connector = NetworkConnector(addresses: FixedAddresses(list: []))
        let target = ConnectionTarget(host: "127.0.0.1", port: live.address.port, security: .startTLS)
        let transport = try await connector.connect(to: target, on: executor)
        executor.queue.sync {
            transport.abort(); live.close()
        }
    }

    @Test("the system knows localhost")
    func localhost() async throws {
        let found = try await SystemAddressResolver().addresses(of: "localhost", port: 7)
        #expect(found.allSatisfy { $0.isLoopback })
        #expect(found.allSatisfy { $0.port == 7 })
    }

    @Test("a look-up that was cancelled ends")
    func cancelledLookUp() async throws {
        let task = Task {
            try await Patience.wait(for: "the cancellation") { Task.isCancelled }
            return try await SystemAddressResolver().addresses(of: "localhost", port: 7)
        }
        task.cancel()
        await #expect(throws: ConnectError.cancelled) { _ = try await task.value }
    }
}
