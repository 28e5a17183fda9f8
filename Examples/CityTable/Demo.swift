// SPDX-License-Identifier: Apache-2.0

import Dispatch
import ExampleSockets
import ExampleSupport

/// Asks a server of our own that answers, one that does not, one that breaks off, and a port where nobody is.
func demonstrate() async throws {
    try await withServer(.polite) { port in
        let cities = try await CityClient().ask("localhost", port: port)
        say(table(of: cities))
        try expect(cities == CityServer.cities, "the server's cities")
    }
    let impatient = CityClient(answerLimit: .milliseconds(200))
    try await withServer(.silent) { try await expectFailure(.silent, at: $0, of: impatient) }
    try await withServer(.halfLine) { try await expectFailure(.halfLine, at: $0, of: impatient) }

    // A port that was just ours and is nobody's now.
    let listener = try Listener()
    let port = listener.port
    listener.stop()
    for await _ in listener.connections {}
    try await expectFailure(.refused, at: port, of: impatient)
    say("a table, and three ways not to get one")
}

private func withServer(_ manner: CityServer.Manner, _ body: (UInt16) async throws -> Void) async throws {
    let listener = try Listener()
    let port = listener.port
    let connections = listener.connections
    async let serving: Void = CityServer(manner: manner).serve(connections)
    do {
        try await body(port)
        listener.stop()
    } catch {
        listener.stop()
        throw error
    }
    await serving
}

private func expectFailure(_ failure: CityError, at port: UInt16, of client: CityClient) async throws {
    let clock = ContinuousClock()
    let start = clock.now
    var seen: CityError?
    do throws(CityError) {
        _ = try await client.ask("127.0.0.1", port: port)
    } catch {
        say("\(error) (status \(error.exitStatus))")
        seen = error
    }
    try expect(seen == failure, "\(failure)")
    // Both limits, and a second for a machine with other things to do.
    try expect(start.duration(to: clock.now) < .milliseconds(2_200), "an answer within the limits")
}
