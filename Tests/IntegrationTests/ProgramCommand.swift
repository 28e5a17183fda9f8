// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import JabberControl
import SocketIO

/// The real `jabberctl`, which starts the real `jabberctld`.
final class ProgramCommand: RunningCommand {
    private let child: ChildProcess
    private let output = Lines()
    private let errors = Lines()
    private let code = Lines()

    init(_ arguments: [String], input: String) throws {
        let (standardInput, standardOutput, standardError) = (try Pipe(), try Pipe(), try Pipe())
        child = try ChildProcess(
            [OwnProgram.neighbour("jabberctl")] + arguments,
            environment: [
                "PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "XDG_RUNTIME_DIR": "/nonexistent",
                "JABBERCTLD": OwnProgram.neighbour("jabberctld"),
            ],
            descriptors: [
                (standardInput.reading, 0), (standardOutput.writing, 1), (standardError.writing, 2),
            ])
        close(standardInput.reading)
        close(standardOutput.writing)
        close(standardError.writing)
        try FileDescriptor(standardInput.writing).writeAll(Array(input.utf8), name: "the password")
        close(standardInput.writing)
        Self.collect(standardOutput.reading, output)
        Self.collect(standardError.reading, errors)
        let (child, code) = (child, code)
        DispatchQueue(label: "wait").async {
            code.append(Array("\(child.wait())\n".utf8))
        }
    }

    private static func collect(_ descriptor: Int32, _ lines: Lines) {
        DispatchQueue(label: "read").async {
            while let piece = try? FileDescriptor(descriptor).readSome(name: "a pipe"), !piece.isEmpty {
                lines.append(piece)
            }
            close(descriptor)
            lines.finish()
        }
    }

    func lines(_ count: Int) async -> [String] { await output.first(count) }

    func end() async -> Tool.Outcome {
        // More lines than there can be: waits for the end of both outputs.
        _ = await (output.first(.max), errors.first(.max))
        let code = await code.first(1).first.flatMap { Int32($0) } ?? -1
        return Tool.Outcome(code: code, output: output.text, errors: errors.text)
    }

    func kill(_ signal: Int32) {
        child.kill(signal)
    }

    func interrupt() async -> Tool.Outcome {
        child.kill(SIGINT)
        return await end()
    }
}

/// Two ends that other programs started meanwhile do not inherit. A socket pair, since Swift does not see `pipe2`.
private struct Pipe {
    let reading: Int32
    let writing: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw ControlError(.inputOutput, "no pipe")
        }
        (reading, writing) = (ends[0], ends[1])
    }
}
