// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import XMPPTestSupport

@testable import SocketIO

@Suite("What the machine says of its network, and of its sleep", .timeLimit(.minutes(5)))
struct NetworkWatchTests {
    /// A message of the kernel's: length, type, and the rest of the header and the body as zeros.
    private static func message(_ type: UInt16, length: UInt32 = 24, actual: Int = 24) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: actual)
        for index in 0..<4 { bytes[index] = UInt8(truncatingIfNeeded: length >> (8 * UInt32(index))) }
        bytes[4] = UInt8(truncatingIfNeeded: type)
        return bytes
    }

    @Test(
        "An address or a route that is there now is news, wherever in a packet; what goes away, links and nonsense are not (rtnetlink(7))",
        arguments: [
            ([message(20)], true), ([message(24)], true), ([message(16), message(24)], true),
            ([message(21)], false), ([message(25)], false), ([message(16)], false), ([], false), ([[20, 0, 0]], false),
            ([message(16, length: 0), message(24)], false), ([message(16, length: 9_999), message(24)], false),
            ([message(16, length: 21), message(24)], true),
        ] as [([[UInt8]], Bool)])
    func parsing(_ messages: [[UInt8]], _ isNews: Bool) {
        let bytes = Array(messages.joined())
        #expect(bytes.withUnsafeBytes { Netlink.tellsOfMore($0) } == isNews)
        // Nothing that is cut off is read past its end.
        for count in bytes.indices { _ = Array(bytes[..<count]).withUnsafeBytes { Netlink.tellsOfMore($0) } }
    }

    @Test("A machine that was asleep is told of once, and one that was not is not")
    func asleep() async {
        let clock = TestClock()
        let slept = Locked(Duration.seconds(100))
        let wakes = Locked(0)
        let watch = NetworkWatch(clock: clock, timeAsleep: { slept.withLock { $0 } }) { change in
            if change == .wakeUp { wakes.withLock { $0 += 1 } }
        }
        await clock.waitForTimers()
        await clock.advance(by: .seconds(10))
        #expect(wakes.withLock { $0 } == 0)
        slept.withLock { $0 += .seconds(4) }
        await clock.advance(by: .seconds(10))
        #expect(wakes.withLock { $0 } == 0)
        slept.withLock { $0 += .seconds(3_600) }
        await clock.advance(by: .seconds(10))
        #expect(wakes.withLock { $0 } == 1)
        await clock.advance(by: .seconds(30))
        #expect(wakes.withLock { $0 } == 1)
        withExtendedLifetime(watch) {}
        #expect(NetworkWatch.timeAsleep() >= .zero)
    }

    @Test(
        "In a network of its own that comes up, the kernel's word is passed on once",
        .enabled(if: geteuid() == 0, "takes root"))
    func kernel() async throws {
        let changes = AsyncStream.makeStream(of: NetworkWatch.Change.self)
        // A thread may leave for another network; what it opens there belongs there.
        let watch: NetworkWatch? = await withCheckedContinuation { continuation in
            let thread = OwnNetwork { isThere in
                guard isThere else { return continuation.resume(returning: nil) }
                let watch = NetworkWatch { changes.continuation.yield($0) }
                OwnNetwork.bringLoopbackUp()
                continuation.resume(returning: watch)
            }
            thread.start()
        }
        guard let watch else { return print("no network of one's own can be had here") }
        var iterator = changes.stream.makeAsyncIterator()
        #expect(await iterator.next() == .network)
        withExtendedLifetime(watch) {}
    }
}

/// A thread in a network namespace that it has made.
private final class OwnNetwork: Sendable {
    private let body: @Sendable (Bool) -> Void

    init(_ body: @escaping @Sendable (Bool) -> Void) {
        self.body = body
    }

    func start() {
        var thread = pthread_t()
        let box = Unmanaged.passRetained(self)
        pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                let own = Unmanaged<OwnNetwork>.fromOpaque(argument).takeRetainedValue()
                // unshare(2) with CLONE_NEWNET, which Swift does not see.
                typealias Unshare = @convention(c) (Int32) -> Int32
                let symbol = dlsym(nil, "unshare").map { unsafeBitCast($0, to: Unshare.self) }
                own.body(symbol?(0x4000_0000) == 0)
                return nil
            }, box.toOpaque())
        pthread_detach(thread)
    }

    /// Gives the loopback interface of the present thread's network its addresses and routes.
    static func bringLoopbackUp() {
        var child = pid_t()
        let words = ["/sbin/ip", "link", "set", "lo", "up"]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { word in strdup(word) }
        arguments.append(nil)
        defer { for argument in arguments { free(argument) } }
        guard posix_spawn(&child, "/sbin/ip", nil, nil, arguments, environ) == 0 else { return }
        waitpid(child, nil, 0)
    }
}
