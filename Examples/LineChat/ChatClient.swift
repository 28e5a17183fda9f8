// SPDX-License-Identifier: Apache-2.0

import Dispatch
import ExampleSockets
import ExampleSupport

/// Chats under a nickname, and comes back whenever the server does.
@MainActor
final class ChatClient {
    /// The longest time between two attempts.
    static let maximumDelay = Duration.seconds(8)

    private let nickname: String
    private let host: String
    private let port: UInt16
    private let firstDelay: Duration
    private let sendBufferBytes: Int32?
    /// Where lines are appended.
    private let show: (String) -> Void
    private var connection: LineConnection?
    private var isOpen = false
    private var delay: Duration
    private var retry: Task<Void, any Error>?

    init(
        _ nickname: String, host: String, port: UInt16, firstDelay: Duration = .milliseconds(250),
        sendBufferBytes: Int32? = nil, show: @escaping (String) -> Void
    ) {
        (self.nickname, self.host, self.port) = (nickname, host, port)
        (self.firstDelay, self.sendBufferBytes, self.show) = (firstDelay, sendBufferBytes, show)
        delay = firstDelay
    }

    /// How often the send buffer was full and had space again.
    var pauses: Int { connection?.pauses ?? 0 }

    /// Connects, and says who is there.
    func start() {
        let connection = LineConnection()
        connection.handler = { [weak self, unowned connection] in self?.handle($0, of: connection) }
        self.connection = connection
        connection.pair.open(host, port: port, within: .seconds(5), sendBufferBytes: sendBufferBytes)
    }

    /// Says something to all.
    func say(_ text: String) {
        guard isOpen, connection?.send("msg:" + text) == true else { return show("! not sent: \(text.printable())") }
    }

    /// Leaves.
    func stop() {
        retry?.cancel()
        connection?.pair.close()
        (connection, isOpen) = (nil, false)
    }

    private func handle(_ event: LineConnection.Event, of connection: LineConnection) {
        switch event {
        case .opened:
            isOpen = true
            connection.send("iam:" + nickname)
        case .line(.text(let line)):
            // Others wrote it: an escape sequence in it could do as it likes with the terminal.
            show(line.printable(limit: 1_000))
            // Only now the way is free: a server that accepts and refuses must not be asked again at once.
            if line == "\(nickname) has joined" { delay = firstDelay }
        case .line(.tooLong):
            show("! a line was too long to be shown")
        case .ended(let reason):
            isOpen = false
            self.connection = nil
            comeBack(after: reason)
        }
    }

    private func comeBack(after reason: String) {
        show("! offline (\(reason)); trying again within \(delay)")
        // Some time before the end of the delay: not all clients at once.
        let pause = delay * Double.random(in: 0.5...1)
        delay = min(delay * 2, Self.maximumDelay)
        retry = Task {
            try await Task.sleep(for: pause)
            start()
        }
    }
}
