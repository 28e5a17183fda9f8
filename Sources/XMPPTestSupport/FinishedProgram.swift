// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import SocketIO

/// What a program left behind that has run to its end.
package struct FinishedProgram: Sendable {
    /// Its exit code, or 128 and the number of the signal that ended it.
    package let code: Int32
    /// What it wrote to its standard output.
    package let output: String
    /// What it wrote to its standard error.
    package let errors: String

    /// How many descriptors other threads may open while a program is being started.
    private static let spareDescriptors: Int32 = 64

    /// The highest number of a descriptor that is open now.
    private static var highestDescriptor: Int32 {
        guard let folder = opendir("/proc/self/fd") else { return STDERR_FILENO }
        defer { closedir(folder) }
        var highest = STDERR_FILENO
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            highest = max(highest, Int32(name) ?? highest)
        }
        return highest
    }

    /// Runs a program, and waits for its end on a thread that nobody else needs.
    ///
    /// It gets no descriptor but the three that all have. What it writes goes into files: it may write as much as it
    /// likes to either, and what it leaves running keeps nobody waiting.
    ///
    /// - Parameters:
    ///   - words: The program, looked up in this process's `PATH` when it has no slash, and its arguments.
    ///   - environment: Its whole environment; this process's unless given.
    ///   - input: What it can read from its standard input.
    /// - Throws: ``TestSupportError`` when it cannot be started.
    package static func run(
        _ words: [String], environment: [String: String]? = nil, input: String = ""
    ) async throws -> FinishedProgram {
        try await BlockingWork.run { try runBlocking(words, environment, input) }
    }

    private static func runBlocking(
        _ words: [String], _ environment: [String: String]?, _ input: String
    ) throws -> FinishedProgram {
        let folder = try TemporaryFolder(prefix: "swift-xmpp-program")
        let places = [
            (number: STDIN_FILENO, path: try folder.write(input, to: "input"), mode: O_RDONLY),
            (number: STDOUT_FILENO, path: try folder.write("", to: "output"), mode: O_WRONLY | O_APPEND),
            (number: STDERR_FILENO, path: try folder.write("", to: "errors"), mode: O_WRONLY | O_APPEND),
        ]
        let processID: pid_t
        do throws(SystemError) {
            processID = try ProgramStart.start(
                words, environment: environment?.map { "\($0.key)=\($0.value)" } ?? OwnEnvironment.entries
            ) { actions in
                for place in places {
                    posix_spawn_file_actions_addopen(&actions, place.number, place.path, place.mode, 0)
                }
                // Those that are not open are no error: what other threads open meanwhile is closed too.
                for number in (STDERR_FILENO + 1)...(highestDescriptor + spareDescriptors) {
                    posix_spawn_file_actions_addclose(&actions, number)
                }
            }
        } catch {
            throw TestSupportError("cannot start \(words.first ?? "nothing"): \(error)")
        }
        var status: Int32 = 0
        while waitpid(processID, &status, 0) < 0 {
            guard errno == EINTR else { throw TestSupportError("cannot wait for \(words[0]): \(SystemText.lastError)") }
        }
        return FinishedProgram(
            code: ProgramStart.code(ofEnd: status), output: try folder.text(of: "output"),
            errors: try folder.text(of: "errors"))
    }
}

/// The variables of this process.
enum OwnEnvironment {
    /// `NAME=value`, in no order.
    static var entries: [String] {
        var entries: [String] = []
        var next = environ
        while let entry = next.pointee {
            entries.append(String(cString: entry))
            next += 1
        }
        return entries
    }
}
