// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc

/// An error that says with which status the process should end.
package protocol ExitStatus: Error {
    /// From 1 to 125.
    var exitStatus: Int32 { get }
}

/// Runs an example with an account to its end: as for one without, below.
///
/// - Parameters:
///   - name: The program's name, for the line.
///   - body: The example, with its command line read.
package func run(_ name: String, _ body: (Options) async throws -> Void) async -> Never {
    await run(name) { (words: [String]) in
        let options = try Options(words)
        if options.isDemo { endLate(name) }
        try await body(options)
    }
}

/// Runs an example to its end: 0 when it did its job, else what its error says (``ExitStatus``) or 1, with one line on
/// standard error.
///
/// - Parameters:
///   - name: The program's name, for the line.
///   - body: The example, with the words of its command line.
package func run(_ name: String, _ body: ([String]) async throws -> Void) async -> Never {
    do {
        let words = Array(CommandLine.arguments.dropFirst())
        if words.contains("--demo") { endLate(name) }
        try await body(words)
    } catch {
        complain("\(name): \("\(error)".printable(limit: 2_000, lineBreak: "\n  "))")
        exit((error as? any ExitStatus)?.exitStatus ?? 1)
    }
    exit(0)
}

/// Writes a line to standard output at once, also through a pipe.
package func say(_ line: String) {
    write(line, to: STDOUT_FILENO)
}

/// Writes a line to standard error.
package func complain(_ line: String) {
    write(line, to: STDERR_FILENO)
}

/// Writes past C's buffers: flushing those would wait for a `readLine` in another thread.
private func write(_ line: String, to descriptor: Int32) {
    var rest = Array((line + "\n").utf8)[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        // Where nobody reads any more, there is nobody to tell.
        guard count >= 0 || errno == EINTR else { return }
        rest = rest.dropFirst(max(0, count))
    }
}

/// The lines that the user types.
package func standardInput() -> AsyncStream<String> {
    let (lines, typed) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingOldest(1_000))
    // `readLine` blocks, which a task must not: this queue has a thread to spare.
    DispatchQueue(label: "standard input").async {
        while let line = readLine() { typed.yield(line) }
        typed.finish()
    }
    return lines
}

/// Suspends until somebody asks the process to end (SIGTERM, or SIGINT from the keyboard), or the task is cancelled.
package func untilTerminated() async {
    let (requests, request) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let sources = [SIGTERM, SIGINT].map { number in
        // The default action would end the process before the source hears of the signal.
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler { request.yield() }
        source.activate()
        return source
    }
    for await _ in requests { break }
    for source in sources { source.cancel() }
}

/// A demonstration takes a second or two. One that hangs has failed.
private func endLate(_ name: String) {
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(20)) {
        complain("\(name): the demonstration did not end in time")
        exit(1)
    }
}
