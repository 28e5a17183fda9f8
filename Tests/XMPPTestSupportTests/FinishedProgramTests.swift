// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import XMPPTestSupport

@Suite("A program that is run to its end", .timeLimit(.minutes(1)))
struct FinishedProgramTests {
    private func shell(_ script: String, input: String = "") async throws -> FinishedProgram {
        try await FinishedProgram.run(
            ["/bin/sh", "-c", script, "name", "word"], environment: ["GREETING": "hello"], input: input)
    }

    @Test("what it wrote to either side is told apart, and with what it ended")
    func outputs() async throws {
        let run = try await shell("echo out; echo err >&2; exit 7")
        #expect(run.code == 7 && run.output == "out\n" && run.errors == "err\n")
        #expect(try await shell("kill -TERM $$").code == 128 + SIGTERM)
    }

    @Test("it gets its words, its variables and its input, and nothing else")
    func inputs() async throws {
        let run = try await shell(#"echo "$1 $GREETING ${HOME-homeless}"; cat"#, input: "line\n")
        #expect(run.output == "word hello homeless\nline\n")
        // The one that reads the folder has it open.
        let descriptors = try await shell("ls /proc/self/fd")
        #expect(descriptors.output == "0\n1\n2\n3\n")
    }

    @Test("however much it writes to either side, it comes to its end")
    func much() async throws {
        let run = try await shell("head -c 300000 /dev/zero >&2; head -c 200000 /dev/zero")
        #expect(run.code == 0 && run.output.utf8.count == 200_000 && run.errors.utf8.count == 300_000)
    }

    @Test("what it leaves running keeps nobody waiting")
    func leftovers() async throws {
        let start = ContinuousClock.now
        let run = try await shell("sleep 50 & echo $!")
        #expect(ContinuousClock.now - start < .seconds(40))
        let processID = try #require(Int32(run.output.prefix { $0 != "\n" }))
        #expect(kill(processID, SIGKILL) == 0)
    }

    @Test("signals that this process ignores end it all the same")
    func signals() async throws {
        signal(SIGPIPE, SIG_IGN)
        #expect(try await shell("kill -PIPE $$").code == 128 + SIGPIPE)
    }

    @Test("one that is not there is an error that names it")
    func missing() async throws {
        let error = await #expect(throws: TestSupportError.self) {
            try await FinishedProgram.run(["/nonexistent/program"])
        }
        #expect(error.map { "\($0)".contains("/nonexistent/program") } == true)
    }
}
