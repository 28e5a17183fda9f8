// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc
internal import XMPP

// What becomes of messages when something breaks off: `xmpp-sweep kill [STRIDE [MESSAGES]]` kills a client with SIGKILL
// at its N-th write, fsync or send, for every N, and lets another one go on where it was.
// `xmpp-sweep cuts SERVER CLIENT [STEP [MESSAGES]]` cuts a connection after one byte after another.
// `xmpp-sweep all [STEP]` does both, with every server and every client. A line tells of each point at which something
// was lost or doubled; the sum is last.

/// Runs what the arguments say, and gives the exit status.
@Sendable func run(_ arguments: [String]) async throws -> Int32 {
    let numbers = arguments.compactMap { Int($0) }.map { max(1, $0) }
    switch arguments.first {
    case "--victim":
        guard let victim = Victim(arguments.dropFirst()) else { return 64 }
        return try await victim.live()
    case "kill":
        let tally = try await KillSweep(stride: numbers.first ?? 1, messages: numbers.dropFirst().first ?? 4).run()
        return report(tally)
    case "cuts":
        guard arguments.count >= 3, let server = CutSweep.Server(rawValue: arguments[1]),
            let client = CutSweep.Client(rawValue: arguments[2])
        else { return usage() }
        let sweep = CutSweep(
            server: server, client: client, step: numbers.first ?? 1, messages: numbers.dropFirst().first ?? 5)
        return report(try await sweep.run())
    case "all":
        return report(try await all(step: numbers.first ?? 1))
    default:
        return usage()
    }
}

/// Everything there is: 20 messages each way, 140 where a client is killed, which makes more than a thousand calls.
@Sendable func all(step: Int) async throws -> CutTally {
    var tally = try await KillSweep(stride: step, messages: 140).run()
    // A daemon keeps what it does on the disk, and a real server takes its time: not every byte, as the places between
    // two of TLS's records are one.
    tally += try await CutSweep(server: .loopback, client: .library, step: step, messages: 20).run()
    tally += try await CutSweep(server: .loopback, client: .daemon, step: max(step, 64), messages: 20).run()
    for server in [CutSweep.Server.prosody, .ejabberd] {
        for client in CutSweep.Client.allCases {
            tally += try await CutSweep(server: server, client: client, step: max(step, 64), messages: 20).run()
        }
    }
    return tally
}

/// Prints the sum.
///
/// - Returns: The exit status: 0 when nothing was lost, doubled or out of order.
@Sendable func report(_ tally: CutTally) -> Int32 {
    print("cuts \(tally.cuts) lost \(tally.lost) doubled \(tally.doubled)")
    return tally.cuts > 0 && tally.isClean ? 0 : 1
}

@Sendable func usage() -> Int32 {
    print(
        """
        usage: xmpp-sweep kill [STRIDE [MESSAGES]]
               xmpp-sweep cuts loopback|prosody|ejabberd library|daemon [STEP [MESSAGES]]
               xmpp-sweep all [STEP]
        """)
    return 64
}

let done = DispatchSemaphore(value: 0)
Task.detached {
    do {
        exit(try await run(Array(CommandLine.arguments.dropFirst())))
    } catch {
        print("xmpp-sweep: \(error)")
        exit(1)
    }
}
done.wait()
