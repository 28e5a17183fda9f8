// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing
import XMPPTestSupport

@testable import SocketIO

@Suite(.timeLimit(.minutes(5))) struct SocketConnectionTests {
    private let executor = StreamExecutor()

    /// A listening socket that echoes, on a free port of the loopback.
    private func echo(_ address: SocketAddress) throws -> ListeningSocket {
        let listener = try ListeningSocket(address, on: executor)
        executor.queue.sync {
            listener.start { transport in
                transport.start { event in
                    switch event {
                    case .received(let bytes): transport.send(bytes)
                    case .endOfInput: transport.close()
                    case .drained, .closed: break
                    }
                }
            }
        }
        return listener
    }

    private func talk(to address: SocketAddress) async throws {
        let listener = try echo(address)
        let own = StreamExecutor()
        let transport = try await SocketTransport.connect(to: listener.address, on: own)
        let recorder = EventRecorder()
        own.queue.sync {
            transport.start { recorder.record($0) }
            transport.send(pattern(200_000))
        }
        await recorder.waitForBytes(200_000)
        own.queue.sync { transport.close() }
        await recorder.waitForEnd()
        #expect(recorder.summary == [.received(pattern(200_000)), .closed(nil)])
        executor.queue.sync { listener.close() }
    }

    @Test("TCP over IPv4 carries bytes both ways")
    func tcp() async throws {
        try await talk(to: .loopback(port: 0))
    }

    @Test("TCP over IPv6 carries bytes both ways")
    func tcp6() async throws {
        try await talk(to: #require(SocketAddress(literal: "::1", port: 0)))
    }

    @Test("a Unix socket has mode 0600, knows its peer, and is gone after close")
    func unix() async throws {
        let path = FileManager.default.temporaryDirectory.path + "/swift-xmpp-\(UUID().uuidString).sock"
        let address = try #require(SocketAddress(unixPath: path))
        let listener = try echo(address)
        #expect(throws: SystemError(EADDRINUSE, "bind", path)) { try ListeningSocket(address, on: executor) }
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let transport = try await SocketTransport.connect(to: address, on: executor)
        let peer = try executor.queue.sync { try transport.peerCredentials() }
        #expect(peer == PeerCredentials(processID: getpid(), userID: geteuid(), groupID: getegid()))
        executor.queue.sync {
            transport.abort(); listener.close()
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("only a Unix socket has credentials")
    func noCredentials() async throws {
        let listener = try echo(.loopback(port: 0))
        let transport = try await SocketTransport.connect(to: listener.address, on: executor)
        #expect(throws: SystemError.self) { try executor.queue.sync { try transport.peerCredentials() } }
        executor.queue.sync {
            transport.abort(); listener.close()
        }
    }

    @Test("a port where nothing listens refuses, with a reason for people")
    func refused() async throws {
        let listener = try echo(.loopback(port: 0))
        let address = listener.address
        executor.queue.sync { listener.close() }
        executor.queue.sync {}
        let error = await #expect(throws: SystemError.self) {
            _ = try await SocketTransport.connect(to: address, on: executor)
        }
        #expect(error?.code == ECONNREFUSED)
        #expect(error?.description.contains("nothing listens there") == true)
        #expect(error?.description.contains(address.description) == true)
    }

    /// A listening socket whose backlog is full: the system neither accepts nor refuses more.
    private func fullListener() throws -> (listener: ListeningSocket, fillers: [Descriptor]) {
        let listener = try ListeningSocket(.loopback(port: 0), on: executor, backlog: 0)
        var fillers: [Descriptor] = []
        for _ in 0..<3 {
            let filler = try Descriptor.socket(family: AF_INET)
            _ = listener.address.withSockaddr { connect(filler.number, $0, $1) }
            fillers.append(filler)
        }
        return (listener, fillers)
    }

    @Test("an address that does not answer is given up after the time-out")
    func timesOut() async throws {
        let full = try fullListener()
        let clock = ManualClock()
        async let outcome: Result<SocketTransport, SystemError> = attempt(full.listener.address, clock)
        try await Patience.wait(for: "the time-out to be set") { clock.scheduled > 0 }
        clock.advance(by: .seconds(10))
        guard case .failure(let error) = await outcome else {
            Issue.record("connected")
            return
        }
        #expect(error.code == ETIMEDOUT)
        withExtendedLifetime(full) {}
    }

    private func attempt(_ address: SocketAddress, _ clock: ManualClock) async -> Result<SocketTransport, SystemError> {
        do throws(SystemError) {
            return .success(try await SocketTransport.connect(to: address, on: executor, clock: clock))
        } catch {
            return .failure(error)
        }
    }

    @Test("cancelling the task calls the attempt off", arguments: [false, true])
    func cancels(beforeItBegins: Bool) async throws {
        let full = try fullListener()
        let clock = ManualClock()
        let address = full.listener.address
        let task = Task {
            if beforeItBegins { try await Patience.wait(for: "the cancellation") { Task.isCancelled } }
            return await attempt(address, clock)
        }
        if !beforeItBegins { try await Patience.wait(for: "the time-out to be set") { clock.scheduled > 0 } }
        task.cancel()
        guard case .failure(let error) = try await task.value else {
            Issue.record("connected")
            return
        }
        #expect(error.code == ECANCELED)
        withExtendedLifetime(full) {}
    }

    @Test("a peer that resets the connection is told apart from one that closes it")
    func reset() async throws {
        let listener = try ListeningSocket(.loopback(port: 0), on: executor)
        let recorder = EventRecorder()
        executor.queue.sync {
            listener.start { transport in
                transport.start { event in
                    // The handler holds the transport: nobody else does.
                    withExtendedLifetime(transport) { recorder.record(event) }
                }
            }
        }
        let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #expect(listener.address.withSockaddr { connect(client, $0, $1) } == 0)
        _ = send(client, [1], 1, 0)
        await recorder.waitForBytes(1)
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(client, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        close(client)
        await recorder.waitForEnd()
        guard case .closed(let error?) = recorder.events.last else {
            Issue.record("no error")
            return
        }
        #expect(error.code == .connectionLost)
        executor.queue.sync { listener.close() }
    }
}
