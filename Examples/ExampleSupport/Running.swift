// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc

/// Runs an example to its end: 0 when it did its job, 1 with one line on standard error when it did not.
///
/// - Parameters:
///   - name: The program's name, for the line.
///   - body: The example, with its command line read.
package func run(_ name: String, _ body: (Options) async throws -> Void) async -> Never {
    do {
        let options = try Options(Array(CommandLine.arguments.dropFirst()))
        // A demonstration takes a second or two. One that hangs has failed.
        if options.isDemo { endLate(name, after: .seconds(20)) }
        try await body(options)
    } catch {
        complain("\(name): \("\(error)".printable(limit: 2_000, lineBreak: "\n  "))")
        exit(1)
    }
    exit(0)
}

/// Writes a line to standard output at once, also through a pipe.
package func say(_ line: String) {
    print(line)
    fflush(nil)
}

/// Writes a line to standard error.
package func complain(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    // Where standard error is closed, there is nobody to tell.
    _ = write(STDERR_FILENO, bytes, bytes.count)
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

private func endLate(_ name: String, after limit: DispatchTimeInterval) {
    DispatchQueue.global().asyncAfter(deadline: .now() + limit) {
        complain("\(name): the demonstration did not end in time")
        exit(1)
    }
}
