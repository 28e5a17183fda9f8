// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc

/// Tells when a server may be within reach that was not a moment ago, and when a connection may be dead that looks
/// alive: the machine has got an address or a route, or has been asleep.
///
/// Addresses and routes are what the kernel says of them (rtnetlink(7)); sleep is what CLOCK_BOOTTIME has gained on
/// CLOCK_MONOTONIC, which stands still meanwhile (clock_gettime(2)).
///
/// Unchecked: all mutable state is confined to the executor's queue; `init` and `deinit` have no company.
package final class NetworkWatch: @unchecked Sendable {
    /// What has happened.
    package enum Change: Sendable, Hashable {
        /// There is an address or a route more.
        case network
        /// The machine has been asleep.
        case wakeUp
    }

    /// How often it is looked whether the machine was asleep; 10 s.
    package static let sleepCheckInterval: Duration = .seconds(10)
    /// A shorter sleep is none; 5 s.
    package static let minimumSleep: Duration = .seconds(5)
    /// How long addresses and routes may go on changing until it is told: a network comes with several of each. 1 s.
    package static let settlingTime: Duration = .seconds(1)
    /// How many bytes of the kernel's are taken at once; 64 KiB.
    private static let maximumBytes = 65_536

    private let executor = StreamExecutor(label: "swift-xmpp.network")
    private let clock: any StreamClock
    private let timeAsleep: @Sendable () -> Duration
    private let changed: @Sendable (Change) -> Void
    private var watch: DescriptorWatch?
    private var sleepCheck: (any ScheduledTimer)?
    private var settling: (any ScheduledTimer)?
    private var known: Duration

    /// Begins to watch. Where the kernel tells nothing of addresses and routes, only sleep is noticed.
    ///
    /// - Parameters:
    ///   - clock: Where time comes from.
    ///   - timeAsleep: How long the machine has slept since it was started.
    ///   - changed: Called on a queue of the watch's own, until the watch is let go of.
    package init(
        clock: any StreamClock = SystemClock(),
        timeAsleep: @escaping @Sendable () -> Duration = NetworkWatch.timeAsleep,
        changed: @escaping @Sendable (Change) -> Void
    ) {
        self.clock = clock
        self.timeAsleep = timeAsleep
        self.changed = changed
        known = timeAsleep()
        watchKernel()
        executor.queue.async { [weak self] in self?.scheduleSleepCheck() }
    }

    deinit {
        watch?.cancel()
        sleepCheck?.cancel()
        settling?.cancel()
    }

    // MARK: Sleep

    /// How long the machine has slept since it was started.
    package static func timeAsleep() -> Duration {
        // Read in this order, what passes between the two makes the result smaller, and no sleep out of nothing.
        let all = time(of: CLOCK_BOOTTIME)
        return max(.zero, all - time(of: CLOCK_MONOTONIC))
    }

    private static func time(of clock: clockid_t) -> Duration {
        var time = timespec()
        clock_gettime(clock, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    private func scheduleSleepCheck() {
        sleepCheck = clock.schedule(after: Self.sleepCheckInterval, on: executor) { [weak self] in
            guard let self else { return }
            let now = timeAsleep()
            let slept = now - known
            known = now
            scheduleSleepCheck()
            if slept >= Self.minimumSleep { changed(.wakeUp) }
        }
    }

    // MARK: The kernel's news

    private func watchKernel() {
        let type = Int32(SOCK_RAW.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let number = socket(AF_NETLINK, type, Netlink.route)
        guard number >= 0 else { return }
        let descriptor = Descriptor(owning: number)
        var address = Netlink.address
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(number, $0, socklen_t(MemoryLayout<Netlink.Address>.size))
            }
        }
        guard status == 0 else { return }
        watch = try? DescriptorWatch(number, for: .reading, on: executor) { [weak self] in self?.readNews(descriptor) }
    }

    private func readNews(_ descriptor: Descriptor) {
        while true {
            let news: Bool? = withUnsafeTemporaryAllocation(byteCount: Self.maximumBytes, alignment: 16) { buffer in
                let count = recv(descriptor.number, buffer.baseAddress, buffer.count, 0)
                if count > 0 { return Netlink.tellsOfMore(UnsafeRawBufferPointer(rebasing: buffer.prefix(count))) }
                // There was more than the kernel has kept: it may have been anything.
                if count < 0, errno == ENOBUFS { return true }
                return count < 0 && errno == EINTR ? false : nil
            }
            guard let news else { return }
            if news { settle() }
        }
    }

    /// Something has come; when nothing more comes, it is told.
    private func settle() {
        settling?.cancel()
        settling = clock.schedule(after: Self.settlingTime, on: executor) { [weak self] in self?.changed(.network) }
    }
}

/// What is needed of netlink(7) and rtnetlink(7), whose headers Swift does not see.
enum Netlink {
    /// `struct sockaddr_nl`.
    struct Address {
        var family = sa_family_t(AF_NETLINK)
        var padding: UInt16 = 0
        var port: UInt32 = 0
        var groups: UInt32
    }

    /// `NETLINK_ROUTE`.
    static let route: Int32 = 0
    /// Listens to `RTMGRP_IPV4_IFADDR`, `RTMGRP_IPV4_ROUTE`, `RTMGRP_IPV6_IFADDR` and `RTMGRP_IPV6_ROUTE`.
    static let address = Address(groups: 0x10 | 0x40 | 0x100 | 0x400)
    /// `RTM_NEWADDR` and `RTM_NEWROUTE`. What goes away is noticed by who needs it.
    private static let more: Set<UInt16> = [20, 24]
    /// The size of `struct nlmsghdr`.
    private static let headerSize = 16

    /// Whether one of some messages tells of an address or a route that is there now.
    static func tellsOfMore(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var start = 0
        while bytes.count - start >= headerSize {
            let length = Int(bytes.loadUnaligned(fromByteOffset: start, as: UInt32.self))
            if more.contains(bytes.loadUnaligned(fromByteOffset: start + 4, as: UInt16.self)) { return true }
            // Messages begin at multiples of four (NLMSG_ALIGN).
            guard length >= headerSize, length <= bytes.count - start else { return false }
            start += (length + 3) & ~3
        }
        return false
    }
}
