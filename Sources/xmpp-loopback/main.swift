// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import XMPPCrypto
internal import XMPPTestSupport

/// Writes a line at once, also into a pipe.
func say(_ line: String, to stream: Int32 = STDOUT_FILENO) {
    let bytes = Array("\(line)\n".utf8)
    _ = bytes.withUnsafeBytes { write(stream, $0.baseAddress, $0.count) }
}

/// Starts the server, says where it is, serves until there is a reason to stop.
func serve(_ arguments: Arguments) async throws(TestSupportError) {
    var accounts = arguments.accounts
    let domain = arguments.domain ?? (arguments.isDemo ? Demonstration.domain : "localhost")
    var announcement = ""
    if arguments.isDemo {
        let password = accounts[Demonstration.username] ?? SecureRandom().identifier()
        accounts[Demonstration.username] = password
        announcement = " account=\(Demonstration.username)@\(domain) password=\(password)"
    }
    let server = try await LoopbackServer.start(
        domain: domain, accounts: accounts, port: arguments.port, options: arguments.options)
    for buddy in Demonstration.buddies where arguments.isDemo { try await server.add(buddy) }
    let directTLS = server.directTLSPort.map { " direct-tls-port=\($0)" } ?? ""
    let webSocket = server.webSocketPort.map {
        " websocket=wss://\(server.host):\($0)\(arguments.options.webSocketPath)"
    }
    say(
        "ready host=\(server.host) port=\(server.port)\(directTLS)\(webSocket ?? "") ca=\(server.certificateAuthorityFile)"
            + " domain=\(server.domain)\(announcement)")
    await EndOfService.wait()
    await server.stop()
}

signal(SIGPIPE, SIG_IGN)
do {
    let arguments = try Arguments(Array(CommandLine.arguments.dropFirst()))
    if arguments.wantsHelp {
        say(Arguments.usage)
    } else {
        try await serve(arguments)
    }
} catch let problem as Arguments.Problem {
    say("xmpp-loopback: \(problem.text)\n\(Arguments.usage)", to: STDERR_FILENO)
    exit(64)
} catch {
    say("xmpp-loopback: \(error)", to: STDERR_FILENO)
    exit(69)
}
