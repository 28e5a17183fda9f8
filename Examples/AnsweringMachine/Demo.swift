// SPDX-License-Identifier: Apache-2.0

import ExampleSupport
import Glibc
import JabberControl
import XMPP
import XMPPTestSupport

/// Plays Juliet's machine at a daemon of its own, which is started anew in between.
func demonstrate() async throws {
    // The next daemon goes on with the session, and knows so what has arrived.
    var options = LoopbackOptions()
    options.resumption = .kept(for: .seconds(60))
    let server = try await LoopbackServer.start(
        domain: "example.org", accounts: ["juliet": "secret"], options: options)
    for name in ["romeo", "nurse", "tybalt"] { try await server.add(LoopbackBuddy(name, behaviors: [])) }
    let home = try TemporaryFolder(prefix: "answering")
    let process = try startDaemon(in: home, for: server)
    let daemon = ControlClient(socket: home.file("run/control.sock"))
    try await whenItListens(daemon)
    _ = try await daemon.call("connect")

    let machine = AnsweringMachine(ControlClient(socket: daemon.socket))
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await machine.run(since: "0") }
        group.addTask { try await play(daemon, server) }
        try await group.next()
        group.cancelAll()
        try await group.next()
    }
    say("answered while away, over a restart, once each")
    await daemon.close()
    await process.stop()
    await server.stop()
}

/// What happens to the machine.
private func play(_ daemon: ControlClient, _ server: LoopbackServer) async throws {
    try await daemon.setPresence(.away, status: "at the ball")
    try await write("Are you there?", as: "romeo", to: server)
    try await expectAnswer(to: "romeo", on: server)

    let first = try await daemon.connect().instance
    _ = try await daemon.call("daemon.restart")
    try await whenItListens(daemon, butNot: first)
    // A presence lasts as long as the daemon does.
    try await daemon.setPresence(.away, status: "at the ball")
    try await write("Juliet!", as: "nurse", to: server)
    try await expectAnswer(to: "nurse", on: server)

    // Who is back answers for herself, and nobody was answered twice.
    try await daemon.setPresence(.available)
    try await write("Ha!", as: "tybalt", to: server)
    for try await event in daemon.events(from: "tybalt@example.org", since: "0") where event.body == "Ha!" { break }
    let answers = await server.received(from: "juliet").filter { $0.localName == "message" }
    try expect(answers.count == 2, "two answers, not \(answers.count)")
}

/// Starts `jabberctld`, which is built beside the examples, with Juliet's account and nothing of the user's.
private func startDaemon(in home: TemporaryFolder, for server: LoopbackServer) throws -> ServerProcess {
    let account: JSONValue = [
        "jid": "juliet@example.org", "password": "secret", "host": .string(server.host),
        "port": .integer(Int64(server.port)), "ca": .string(server.certificateAuthorityFile),
    ]
    for folder in ["config", "config/jabberctl", "config/jabberctl/accounts", "run"] { try home.makeFolder(folder) }
    try home.write(account.text, to: "config/jabberctl/accounts/juliet.json")
    let program = try ownFolder() + "/jabberctld"
    try expect(access(program, X_OK) == 0, "the daemon at \(program)")
    return try ServerProcess(
        program, ["--socket", home.file("run/control.sock")],
        environment: [
            "HOME": home.path, "XDG_CONFIG_HOME": home.file("config"), "XDG_STATE_HOME": home.file("state"),
            "XDG_DATA_HOME": home.file("data"), "XDG_RUNTIME_DIR": home.file("run"),
        ], logFile: home.file("daemon.log"))
}

private func ownFolder() throws -> String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    try expect(count > 0, "a path of this program")
    let path = String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
}

/// Waits for a daemon, or for the next one.
private func whenItListens(_ daemon: ControlClient, butNot instance: String? = nil) async throws {
    while true {
        do {
            if try await daemon.connect().instance != instance { return }
        } catch  where [.daemonNotRunning, .daemonEnding].contains(error.code) {
            // It begins, or begins anew.
        }
        try await Task.sleep(for: .milliseconds(20))
    }
}

private func write(_ text: String, as name: String, to server: LoopbackServer) async throws {
    try await server.send(Message(to: try JID("juliet@example.org"), body: text), as: name)
}

private func expectAnswer(to name: String, on server: LoopbackServer) async throws {
    _ = try await server.firstElement(from: "juliet") { element in
        (try? Message(element)).map { $0.to?.localpart == name && $0.body == "I am away: at the ball" } == true
    }
}
