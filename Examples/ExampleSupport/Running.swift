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
