// SPDX-License-Identifier: Apache-2.0

import Dispatch
import ExampleSupport

let usage = """
    usage: LineChat NAME HOST PORT  chat: what you type is said to all; the end of the input leaves
           LineChat serve [PORT]    be the server, on 127.0.0.1, until SIGTERM or Ctrl-C
           LineChat --demo          be both, and end
    """

await run("LineChat") { (words: [String]) in
    switch (words.first, words.dropFirst().first, words.dropFirst(2).first) {
    case ("--demo"?, nil, nil):
        try await demonstrate()
    case ("serve"?, let port, nil):
        guard let port = UInt16(port ?? "0") else { throw UsageError(usage) }
        let server = try ChatServer(port: port)
        say("listening on 127.0.0.1, port \(server.port)")
        async let serving: Void = server.run()
        await untilTerminated()
        server.stop()
        await serving
    case (let name?, let host?, let port?):
        guard let port = UInt16(port) else { throw UsageError(usage) }
        let client = ChatClient(name, host: host, port: port) { say($0) }
        client.start()
        for await line in standardInput() where !line.isEmpty { client.say(line) }
        client.stop()
    default:
        throw UsageError(usage)
    }
}
