// SPDX-License-Identifier: Apache-2.0

import JabberControl
import SocketIO
import Testing

@testable import JabberCLI

@Suite("jabberctl rpc", .timeLimit(.minutes(5)))
struct RPCTests {
    private func request(_ id: Int, _ method: String = "ping") -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":{}}"# + "\n"
    }

    @Test("the greeting comes first, each request is answered, and then it ends", arguments: [1, 7, 1_000])
    func answers(size: Int) async throws {
        let text = request(1) + request(2, "roster.list")
        var pieces: [String] = []
        var rest = text[...]
        while !rest.isEmpty {
            pieces.append(String(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        let run = await jabberctl("rpc", daemon: FakeDaemon("ping", ["ok": true]), in: Surroundings(input: pieces))
        #expect(run.code == 0)
        #expect(run.lines.first?.contains(#""method":"hello""#) == true)
        #expect(run.lines.contains(#"{"jsonrpc":"2.0","id":1,"result":{"ok":true}}"#))
        #expect(run.lines.count == 3 && run.lines.contains { $0.contains(#""id":2,"error""#) }, "\(run.output)")
        #expect(run.asked.map(\.method).sorted() == ["ping", "roster.list"])
    }

    @Test("an input that has ended does not cut off an answer that takes its time")
    func patient() async {
        let daemon = FakeDaemon([
            "slow": { (_, _) async throws(ControlError) in
                for _ in 0..<1_000 { await Task.yield() }
                return "late"
            }
        ])
        let run = await jabberctl("rpc", daemon: daemon, in: Surroundings(input: [request(5, "slow")]))
        #expect(run.code == 0 && run.lines.last == #"{"jsonrpc":"2.0","id":5,"result":"late"}"#, "\(run)")
    }

    @Test(
        "a line that is no request is answered, and the end",
        arguments: [("nonsense", "null"), (#"{"jsonrpc":"2.0","id":3}"#, "3"), ("[]", "null")])
    func strangeLines(line: String, id: String) async {
        let run = await jabberctl("rpc", in: Surroundings(input: ["\n", line + "\n"]))
        #expect(run.code == 65 && run.errors.contains("a line that is no request"), "\(run)")
        #expect(run.lines.count == 2 && run.lines.last?.contains("\"id\":\(id),\"error\"") == true, "\(run)")
    }

    @Test("without input only the greeting is shown")
    func silence() async {
        let run = await jabberctl("rpc")
        #expect(run.code == 0 && run.lines.count <= 1 && run.asked.isEmpty, "\(run)")
    }

    @Test("an output that nobody reads is an error, and the end")
    func brokenPipe() async {
        let run = await jabberctl("rpc", in: Surroundings(input: [request(1)], breaksPipe: true))
        #expect(run.code == 74, "\(run)")
    }

    @Test("a line that is too long ends it as the daemon ends the connection")
    func tooLong() async {
        let line = String(repeating: "x", count: ControlFrame.maximumBytes + 1)
        let run = await jabberctl("rpc", in: Surroundings(input: [line, request(1)]))
        #expect(run.code == 65 && run.errors.contains("longer than 1048576 bytes"), "\(run)")
    }
}
