// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc
internal import XMPP

// A client is killed with SIGKILL at its N-th write, fsync or send, for every N, and another one goes on where it was:
// `xmpp-sweep [STRIDE [MESSAGES]]` prints a line for each point at which something was lost or doubled, and the sum last. The
// server is in this process, the client in one of its own, which strace kills.

/// Runs what the arguments say, and gives the exit status.
@Sendable func run(_ arguments: [String]) async throws -> Int32 {
    if arguments.first == "--victim" {
        guard let victim = Victim(arguments.dropFirst()) else { return 64 }
        return try await victim.live()
    }
    let stride = arguments.first.flatMap { Int($0) } ?? 1
    let messages = arguments.dropFirst().first.flatMap { Int($0) } ?? 4
    return try await KillSweep(stride: max(1, stride), messages: max(1, messages)).run()
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
