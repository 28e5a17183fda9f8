// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc
internal import XMPP

// One client under load, for a server that is given: `Client MODE HOST PORT JID PASSWORD TLS COUNT` prints what the
// work cost as a line of JSON. MODE is receive, send, roster or idle; TLS is none, starttls or direct, with the
// certificate authority in the file that BENCH_CA names.
//
// The work runs in a task while the main thread waits: valgrind cannot run a program whose `main` is asynchronous.

/// Writes a line to standard error.
@Sendable func complain(_ text: String) {
    let line = Array((text + "\n").utf8)
    _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
}

let arguments = CommandLine.arguments
guard arguments.count == 8, let port = UInt16(arguments[3]), let count = Int(arguments[7]),
    let mode = LoadMode(rawValue: arguments[1])
else {
    complain("usage: Client receive|send|roster|idle HOST PORT JID PASSWORD none|starttls|direct COUNT")
    exit(64)
}

let done = DispatchSemaphore(value: 0)
Task.detached {
    do {
        var configuration = XMPPConfiguration(jid: try JID(arguments[4]), password: Password(arguments[5]))
        configuration.host = arguments[2]
        configuration.port = port
        configuration.certificateAuthorityFile = getenv("BENCH_CA").map { String(cString: $0) }
        switch arguments[6] {
        case "none": configuration.securityPolicy = .plaintextOnLoopback
        case "direct": configuration.hostSecurity = .directTLS
        default: break
        }
        try await Load(mode: mode, count: count, configuration: configuration).run()
    } catch {
        complain("\(error)")
        exit(1)
    }
    done.signal()
}
done.wait()
