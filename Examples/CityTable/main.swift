// SPDX-License-Identifier: Apache-2.0

import ExampleSockets
import ExampleSupport

let usage = """
    usage: CityTable HOST PORT     ask a line server for its cities
           CityTable serve [PORT]  be the line server, on 127.0.0.1, until SIGTERM or Ctrl-C
           CityTable --demo        be both, and end
    """

await run("CityTable") { (words: [String]) in
    switch (words.first, words.dropFirst().first) {
    case ("--demo"?, nil):
        try await demonstrate()
    case ("serve"?, let port):
        guard let port = UInt16(port ?? "0") else { throw UsageError(usage) }
        let listener = try Listener(port: port)
        say("listening on 127.0.0.1, port \(listener.port)")
        let connections = listener.connections
        async let serving: Void = CityServer().serve(connections)
        await untilTerminated()
        listener.stop()
        await serving
    case (let host?, let port?):
        guard let port = UInt16(port) else { throw UsageError(usage) }
        say(table(of: try await CityClient().ask(host, port: port)))
    default:
        throw UsageError(usage)
    }
}
