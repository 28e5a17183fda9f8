// SPDX-License-Identifier: Apache-2.0

import Dispatch
import ExampleSockets
import ExampleSupport

/// Lets Romeo and Juliet talk over a server of our own, and everything happen that happens on a network.
@MainActor
func demonstrate() async throws {
    var server = try ChatServer()
    let port = server.port
    var serving = Task { [server] in await server.run() }
    let (lines, shown) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(2_000))
    var isQuiet = false
    var seen = lines.makeAsyncIterator()

    /// Reads along until Juliet has seen a line.
    func expect(_ expected: String) async throws {
        while let line = await seen.next(isolation: MainActor.shared) { if line.hasPrefix(expected) { return } }
        try ExampleSupport.expect(false, expected)
    }
    let juliet = ChatClient("Juliet", host: "127.0.0.1", port: port, firstDelay: .milliseconds(50)) { line in
        if !isQuiet { say(line) }
        shown.yield(line)
    }
    let romeo = ChatClient(
        "Romeo", host: "127.0.0.1", port: port, firstDelay: .milliseconds(50), sendBufferBytes: 4_096
    ) { _ in }
    juliet.start()
    try await expect("Juliet has joined")
    romeo.start()
    try await expect("Romeo has joined")
    juliet.say("Ay me!")
    try await expect("Juliet: Ay me!")

    // A character in two pieces, the first with a line before it that shows that it was read on its own.
    let nurse = try await Descriptor.connect(to: "127.0.0.1", port: port, by: .now() + .seconds(5))
    let bytes = Array("iam:Nurse\nmsg:Anon, good 👋 Juliet\n".utf8)
    let cut = "iam:Nurse\nmsg:Anon, good ".utf8.count + 2
    _ = try nurse.write(bytes[..<cut])
    try await expect("Nurse has joined")
    _ = try nurse.write(bytes[cut...])
    try await expect("Nurse: Anon, good 👋 Juliet")

    // A line without end, and one after it.
    _ = try nurse.write(Array(repeating: UInt8(ascii: "x"), count: 5_000) + Array("\nmsg:Madam!\n".utf8))
    try await expect("Nurse: Madam!")
    var heard: [LineBuffer.Line] = []
    var buffer = LineBuffer()
    while !heard.contains(.text("Nurse: Madam!")), await nurse.waits(for: .readable, until: .now() + .seconds(5)) {
        heard += buffer.feed(try nurse.read() ?? [])
    }
    let complaints = heard.filter { if case .text(let line) = $0 { line.hasPrefix("!") } else { true } }
    try ExampleSupport.expect(complaints == [.text("! your line is too long")], "one complaint about one long line")

    // More than a send buffer holds: it comes when there is space, in order.
    isQuiet = true
    for number in 1...400 { romeo.say("\(number) " + String(repeating: "sweet ", count: 140)) }
    for number in 1...400 { try await expect("Romeo: \(number) ") }
    isQuiet = false
    say("… 400 long lines of Romeo, in order")
    try ExampleSupport.expect(romeo.pauses > 0, "a send buffer that is full")

    // The server goes away and comes back: so do the clients, by themselves.
    server.stop()
    await serving.value
    try await expect("! offline")
    juliet.say("Where art thou?")
    try await expect("! not sent: Where art thou?")
    server = try ChatServer(port: port)
    serving = Task { [server] in await server.run() }
    try await expect("Juliet has joined")
    juliet.say("Good night")
    try await expect("Juliet: Good night")

    juliet.stop()
    romeo.stop()
    server.stop()
    await serving.value
    say("said, cut, flooded, interrupted, and said again")
}
