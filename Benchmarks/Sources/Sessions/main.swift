// SPDX-License-Identifier: Apache-2.0

// Sessions COUNT
//
// Opens COUNT sessions with TLS to a server in a process of its own and prints how much resident memory each idle one
// costs. `Sessions --server` is that server.

internal import Dispatch
internal import Glibc
internal import XMPP
internal import XMPPTestSupport

/// Resident memory of this process in KiB.
func residentKilobytes() -> Int {
    guard let file = fopen("/proc/self/status", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, Int32(line.count), file) != nil {
        let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        if text.hasPrefix("VmRSS:") { return Int(text.split(separator: " ").dropFirst().first ?? "0") ?? 0 }
    }
    return 0
}

/// Serves until standard input ends.
func serve() async throws {
    let server = try await LoopbackServer.start(domain: "example.org", accounts: ["juliet": "secret"])
    print(server.port, server.certificateAuthorityFile)
    fflush(nil)
    while readLine() != nil {}
    await server.stop()
}

/// Opens the sessions, one after another, and measures.
func measure(_ count: Int, port: UInt16, authority: String) async throws {
    var configuration = XMPPConfiguration(jid: try JID("juliet@example.org"), password: "secret")
    configuration.host = "127.0.0.1"
    configuration.port = port
    configuration.certificateAuthorityFile = authority

    var streams: [XMPPStream] = []
    // The first sessions pay for what all share: the trust store, the libraries' own tables, the thread pool.
    for _ in 0..<20 { streams.append(try await open(configuration)) }
    let before = residentKilobytes()
    let clock = ContinuousClock()
    let began = clock.now
    for _ in 0..<count { streams.append(try await open(configuration)) }
    let elapsed = clock.now - began
    let after = residentKilobytes()
    print("\(count) sessions: \((after - before) / count) KiB each, \(elapsed / count) to open one")
    for stream in streams { await stream.disconnect() }
}

func open(_ configuration: XMPPConfiguration) async throws -> XMPPStream {
    let stream = XMPPStream(configuration)
    try await stream.connect()
    return stream
}

let words = CommandLine.arguments.dropFirst()
let work: @Sendable () async throws -> Void
if words == ["--server"] {
    work = { try await serve() }
} else if words.count == 3, let count = Int(words[1]), count > 0, let port = UInt16(words[2]) {
    let authority = words[3]
    work = { try await measure(count, port: port, authority: authority) }
} else {
    print("usage: Sessions --server | Sessions COUNT PORT AUTHORITY")
    exit(64)
}
// A task and a semaphore instead of an asynchronous main, so that valgrind can run the program too. Detached, because
// the main actor's thread is the one that waits.
let done = DispatchSemaphore(value: 0)
Task.detached { [work] in
    do {
        try await work()
    } catch {
        print(error)
        exit(70)
    }
    done.signal()
}
done.wait()
