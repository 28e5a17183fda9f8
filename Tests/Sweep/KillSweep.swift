// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import JabberControl
internal import SocketIO
internal import XMPP
internal import XMPPTestSupport

/// The server, and the one who kills its client at one system call after another.
struct KillSweep {
    /// The calls at which the client is killed: at the N-th of one kind by any thread, for every N.
    private static let calls = ["write,writev", "pwrite64", "fsync,fdatasync", "sendto,sendmsg"]
    /// How many points of a kind are tried at most, for a client that never lives to its end.
    private static let maximumPoints = 10_000
    /// The status of a client that SIGKILL has ended; any other has failed by itself, which is no cut.
    private static let killed: Int32 = 128 + SIGKILL

    let stride: Int
    let messages: Int

    private struct Tally {
        var cuts = 0
        /// Cuts at which something was queued: only there something can be lost.
        var telling = 0
        var lost = 0
        var doubled = 0
        var damaged = 0
    }

    /// - Returns: What was lost and doubled.
    /// - Throws: `TestSupportError` when a database was damaged, or when nothing was killed that could lose anything.
    func run() async throws -> CutTally {
        var options = LoopbackOptions()
        options.mechanisms = ["PLAIN"]
        options.resumption = .kept(for: .seconds(60))
        options.requestsAcknowledgementEvery = 2
        let server = try await LoopbackServer.start(
            domain: "example.net", accounts: ["romeo": "secret"], options: options)
        try await server.add(LoopbackBuddy("juliet", resource: "balcony"))
        var tally = Tally()
        do {
            for calls in Self.calls {
                var point = 1
                while point < Self.maximumPoints {
                    let before = (tally.lost, tally.doubled, tally.damaged)
                    guard try await kill(at: point, of: calls, server, &tally) else { break }
                    if before != (tally.lost, tally.doubled, tally.damaged) {
                        print("killed at \(calls) \(point): \(tally)")
                    }
                    point += stride
                }
                print("killed at \(calls): \(point / stride) places, all in all \(tally.cuts)")
            }
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
        let sum = CutTally(cuts: tally.cuts, lost: tally.lost, doubled: tally.doubled)
        print("killed: \(sum)")
        guard tally.damaged == 0 else { throw TestSupportError("\(tally.damaged) databases were damaged") }
        guard tally.telling > 0 else { throw TestSupportError("the client was killed before it queued anything") }
        return sum
    }

    /// Lets a client live until its N-th call, and another one go on.
    ///
    /// - Returns: Whether it lived that long.
    private func kill(
        at point: Int, of calls: String, _ server: LoopbackServer, _ tally: inout Tally
    ) async throws -> Bool {
        let folder = try TemporaryFolder(prefix: "swift-xmpp-sweep")
        let prefix = "\(calls.prefix { $0 != "," })\(point)-"
        let ids = (1...messages).map { "\(prefix)\($0)" }
        let victim = [
            "/proc/self/exe", "--victim", String(server.port), server.certificateAuthorityFile,
            folder.file("store/store.db"),
        ]
        let program = try ownProgram()
        let strace = [
            "/usr/bin/strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(calls)", "-e",
            "inject=\(calls):signal=SIGKILL:when=\(point)", program,
        ]
        let first = try await life(strace + victim.dropFirst() + ids, folder.file("first"))
        guard first.status != 0 else { return false }
        guard first.status == Self.killed else {
            throw TestSupportError("at \(calls) \(point) the client was not killed, but ended with \(first.status)")
        }
        tally.cuts += 1
        let second = try await life([program] + victim.dropFirst(), folder.file("second"))
        let reported = first.lines.filter { $0.hasPrefix("queued ") }.map { String($0.dropFirst(7)) }
        if !reported.isEmpty { tally.telling += 1 }
        let sent = try await server.stanzas(for: "juliet").compactMap { $0["id"] }.filter { $0.hasPrefix(prefix) }
        let kept = second.lines.filter { $0.hasPrefix("kept ") }.map { String($0.dropFirst(5)) }
        tally.lost += reported.count { !sent.contains($0) } + Set(sent).count { !kept.contains("echo-\($0)") }
        tally.doubled += sent.count - Set(sent).count + kept.count - Set(kept).count
        if second.status != 0 || second.lines.last != "integrity ok" {
            tally.damaged += 1
            print("the second life ended with \(second.status): \(second.lines.suffix(2))")
        }
        return true
    }

    /// Runs a client to its end.
    private func life(_ words: [String], _ path: String) async throws -> (status: Int32, lines: [String]) {
        let output = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard output >= 0, null >= 0 else { throw TestSupportError("cannot make \(path)") }
        defer {
            close(output)
            close(null)
        }
        let process = try ChildProcess(words, environment: [:], descriptors: [(null, 0), (output, 1), (2, 2)])
        let status = await BlockingWork.run { process.wait() }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = pread(output, &bytes, bytes.count, 0)
        let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        return (status, text.split(separator: "\n").map(String.init))
    }

    private func ownProgram() throws -> String {
        var bytes = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &bytes, bytes.count - 1)
        guard count > 0 else { throw TestSupportError("no /proc") }
        return String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
