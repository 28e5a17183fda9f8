// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc
internal import XMPP

// What floods do to a client's memory and speed: `xmpp-floods [DIVISOR [FLOOD…]]` prints a line for each flood. With a
// divisor the floods that are to be delivered are as much smaller; those that are to be refused stay what they are. The
// exit status is 1 when one of them had another outcome than it must have, or, undivided, cost more memory than it may,
// and 64 when there is no flood of a name.
//
// The client runs in a process of its own, so that its memory is its own.

/// Runs what the arguments say, and gives the exit status.
@Sendable func run(_ arguments: [String]) async -> Int32 {
    if arguments.first == "--client" {
        guard arguments.count == 5, let flood = Flood(rawValue: arguments[1]), let divisor = Int(arguments[2]),
            let port = UInt16(arguments[3]), let jid = try? JID("romeo@example.net")
        else { return 64 }
        var configuration = XMPPConfiguration(jid: jid, password: "secret")
        configuration.host = "127.0.0.1"
        configuration.port = port
        if !arguments[4].isEmpty { configuration.certificateAuthorityFile = arguments[4] }
        if flood == .oversized {
            var memory = LoginMemory()
            memory.lastOversized = .now
            await configuration.loginMemory.save(memory, of: jid)
        }
        if flood == .churn { return await Churn.run(configuration, divisor: divisor) }
        return await Victim(flood).suffer(configuration, divisor: divisor)
    }
    guard let divisor = Int(arguments.first ?? "1"), divisor > 0 else {
        say("the first argument, a divisor, is a whole number from 1 on")
        return 64
    }
    var floods = Flood.allCases
    if arguments.count > 1 {
        floods = arguments.dropFirst().compactMap { Flood(rawValue: $0) }
        guard floods.count == arguments.count - 1 else {
            say("there are these floods: \(Flood.allCases.map(\.rawValue).joined(separator: ", "))")
            return 64
        }
    }
    print(Row.headings.joined(separator: "\t"))
    fflush(nil)
    var failed: [String] = []
    for flood in floods {
        do {
            if try await !Attacker.run(flood, divisor: divisor) { failed.append(flood.rawValue) }
        } catch {
            print("\(flood.rawValue)\t\(error)")
            failed.append(flood.rawValue)
        }
    }
    guard !failed.isEmpty else { return 0 }
    say("not as it must be: \(failed.joined(separator: ", "))")
    return 1
}

/// Says something on standard error.
@Sendable func say(_ sentence: String) {
    let text = Array("xmpp-floods: \(sentence)\n".utf8)
    _ = write(STDERR_FILENO, text, text.count)
}

let done = DispatchSemaphore(value: 0)
Task.detached {
    exit(await run(Array(CommandLine.arguments.dropFirst())))
}
done.wait()
