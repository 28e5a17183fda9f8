// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import SocketIO

/// A name server for one zone that it signs itself (knot), on 127.0.0.1.
package final class SignedNameServer: Sendable {
    /// How long it may take until the zone is there.
    private static let startLimit: Duration = .seconds(60)

    /// Its port, for TCP and UDP.
    package let port: UInt16
    /// The zone's keys as `DNSKEY` records: where signatures begin for who trusts them.
    package let keys: [String]
    private let process: ServerProcess
    private let folder: TemporaryFolder

    private static let program = ServerSite.find("/usr/sbin/knotd", "/usr/bin/knotd")
    private static let keyManager = ServerSite.find("/usr/sbin/keymgr", "/usr/bin/keymgr")

    /// Whether tests with it should run: it is installed, or its absence must not go unnoticed because the environment
    /// has `CI=true`. Prints the reason when the answer is no.
    package static let isExpected: Bool = {
        if program != nil && keyManager != nil { return true }
        if getenv("CI").map({ String(cString: $0) }) == "true" { return true }
        print("knot is not installed: tests with it are left out (Scripts/dependencies test)")
        return false
    }()

    /// Starts a server, and waits until the zone is signed.
    ///
    /// - Parameters:
    ///   - zone: The name of the zone.
    ///   - records: Its records as in a zone file, with names relative to the zone.
    /// - Throws: ``TestSupportError`` when it is not installed or does not come up; then nothing is left behind.
    package static func start(
        zone: String, records: [String]
    ) async throws(TestSupportError) -> SignedNameServer {
        do throws(TestSupportError) {
            return try await attempt(zone: zone, records: records)
        } catch {
            // Another program may have taken the port meanwhile.
            return try await attempt(zone: zone, records: records)
        }
    }

    private static func attempt(
        zone: String, records: [String]
    ) async throws(TestSupportError) -> SignedNameServer {
        guard let program, let keyManager else { throw TestSupportError("knot is not installed") }
        let folder = try TemporaryFolder(prefix: "xmpp-names")
        let port: UInt16
        do throws(SystemError) {
            port = try ListeningSocket(.loopback(port: 0), on: StreamExecutor()).address.port ?? 0
        } catch {
            throw TestSupportError("no free port: \(error)")
        }
        let head = ["@ 60 IN SOA ns admin 1 3600 600 86400 60", "@ 60 IN NS ns", "ns 60 IN A 127.0.0.1"]
        try folder.write((head + records).map { $0 + "\n" }.joined(), to: "zone")
        let settings = try folder.write(configuration(of: zone, at: port, in: folder), to: "knot.conf")
        let process = try ServerProcess(program, ["-c", settings], logFile: folder.file("log"))
        let clock = SystemClock()
        let deadline = clock.now + startLimit
        while !process.logTail.contains("] loaded, serial"), process.isRunning, clock.now < deadline {
            await Pause.briefly()
        }
        let keys = process.isRunning ? try await keys(of: zone, keyManager, settings, folder) : []
        guard !keys.isEmpty else {
            await process.stop()
            defer { folder.remove() }
            throw TestSupportError("knot did not come up: \(process.logTail)")
        }
        return SignedNameServer(port: port, keys: keys, process: process, folder: folder)
    }

    private init(port: UInt16, keys: [String], process: ServerProcess, folder: TemporaryFolder) {
        self.port = port
        self.keys = keys
        self.process = process
        self.folder = folder
    }

    private static func configuration(of zone: String, at port: UInt16, in folder: TemporaryFolder) -> String {
        """
        server:
            rundir: "\(folder.path)"
            listen: 127.0.0.1@\(port)
            udp-workers: 1
            tcp-workers: 1
            background-workers: 1
        log:
          - target: stderr
            any: info
        database:
            storage: "\(folder.path)"
        policy:
          - id: test
            algorithm: ecdsap256sha256
            single-type-signing: on
        zone:
          - domain: \(zone)
            file: "\(folder.file("zone"))"
            zonefile-sync: -1
            dnssec-signing: on
            dnssec-policy: test

        """
    }

    /// Asks the program that manages the keys for those of a zone.
    private static func keys(
        of zone: String, _ keyManager: String, _ settings: String, _ folder: TemporaryFolder
    ) async throws(TestSupportError) -> [String] {
        let manager = try ServerProcess(keyManager, ["-c", settings, zone, "dnskey"], logFile: folder.file("keys.txt"))
        while manager.isRunning { await Pause.briefly() }
        return manager.logTail.split(separator: "\n").map(String.init).filter { $0.contains(" DNSKEY ") }
    }

    /// Ends the server and removes its folder. Idempotent.
    package func stop() async {
        await process.stop()
        folder.remove()
    }
}
