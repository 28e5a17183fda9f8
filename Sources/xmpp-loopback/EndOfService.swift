// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc
internal import SocketIO

/// Waits for a reason to stop: SIGTERM, SIGINT, SIGHUP, or the end of the standard input.
enum EndOfService {
    /// Returns when there is a reason.
    static func wait() async {
        let (reasons, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(1))
        let executor = StreamExecutor(label: "xmpp-loopback.end")
        let signals = [SIGTERM, SIGINT, SIGHUP].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: executor.queue)
            source.setEventHandler { continuation.yield() }
            source.activate()
            return source
        }
        let input = watchInput(on: executor) { continuation.yield() }
        for await _ in reasons { break }
        for source in signals { source.cancel() }
        input?.cancel()
    }

    /// Watches the standard input when it is a pipe or a socket: somebody holds its other end, and may let go.
    ///
    /// The input of a program in the background of a script is `/dev/null`, which is at its end from the start and
    /// means nothing.
    private static func watchInput(
        on executor: StreamExecutor, _ ended: @escaping @Sendable () -> Void
    ) -> DescriptorWatch? {
        var status = stat()
        guard fstat(STDIN_FILENO, &status) == 0 else { return nil }
        let kind = status.st_mode & S_IFMT
        guard kind == S_IFIFO || kind == S_IFSOCK else { return nil }
        return try? DescriptorWatch(STDIN_FILENO, for: .reading, on: executor) {
            var buffer = [UInt8](repeating: 0, count: 4_096)
            if read(STDIN_FILENO, &buffer, buffer.count) == 0 { ended() }
        }
    }
}
