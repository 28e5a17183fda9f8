// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import SocketIO

/// One call of a daemon that runs, in the thread that asks.
///
/// Most commands are no more than that, and the threads that everything else needs take longer to begin than the daemon
/// to answer. What takes more, such as events, a password or patience, is ``ControlCaller``'s.
package struct DirectCaller {
    /// How long a daemon may take to greet before it is left to those who wait in a better way; 500 ms.
    static let maximumGreetingWait: Duration = .milliseconds(500)

    /// Who is at the other end.
    package let greeting: ControlGreeting
    private var line: Line

    /// Connects to a daemon of this user that greets at once.
    ///
    /// - Parameter path: The path of the socket.
    /// - Returns: `nil` when nobody listens there, or somebody else, or a daemon that has no room or is about to end.
    ///   Nothing was asked then.
    package static func connect(to path: String) -> DirectCaller? {
        Line(to: path).flatMap { DirectCaller(over: $0) }
    }

    /// The same over a connection that is there.
    package static func greeted(over connection: Descriptor) -> DirectCaller? {
        DirectCaller(over: Line(over: connection))
    }

    private init?(over line: Line) {
        var line = line
        let end = Line.clock.now + Self.maximumGreetingWait
        guard case .notification(let word)? = try? line.next(by: end), let greeting = ControlGreeting(word) else {
            return nil
        }
        self.greeting = greeting
        self.line = line
    }

    /// Calls a method and waits for its answer; once.
    ///
    /// - Parameters:
    ///   - method: The command's name, such as `roster.add`.
    ///   - params: The parameters by name.
    ///   - limit: How long the answer may take.
    ///   - lateness: What is thrown when it takes longer.
    /// - Throws: `ControlError`: the daemon's answer, `daemonEnded` when it ended before that, or `lateness`.
    package mutating func call(
        _ method: String, _ params: JSONObject, within limit: Duration, or lateness: ControlError
    ) throws(ControlError) -> JSONValue {
        let id: ControlID = 1
        let end = Line.clock.now + limit
        let bytes: [UInt8]
        do throws(ControlFrameError) {
            bytes = try ControlFrame.encode(.request(ControlRequest(id: id, method: method, params: params)))
        } catch {
            throw error.controlError
        }
        guard line.send(bytes, by: end) else { throw lateness }
        while let message = try line.next(by: end) {
            switch message {
            case .response(let response) where response.id == id: return try response.result.get()
            case .notification(let word) where word.method == "goodbye":
                throw ControlError(json: word.params["error"]?.objectValue ?? [:])
            case .response, .notification, .request: continue
            }
        }
        throw lateness
    }

    /// The connection: messages as they come.
    private struct Line {
        static let clock = SystemClock()
        private static let ended = ControlError(.daemonEnded, "the daemon ended before it answered")

        private let descriptor: Descriptor
        private var reader = ControlLineReader()
        private var pieces = ControlPieceReader()
        private var lines: ArraySlice<[UInt8]> = []

        init?(to path: String) {
            let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
            guard let address = SocketAddress(unixPath: path) else { return nil }
            let number = socket(AF_UNIX, type, 0)
            guard number >= 0 else { return nil }
            descriptor = Descriptor(owning: number)
            // Passwords may go there.
            guard address.withSockaddr({ Glibc.connect(number, $0, $1) }) == 0,
                let peer = try? PeerCredentials(of: number), peer.userID == geteuid()
            else { return nil }
        }

        init(over descriptor: Descriptor) {
            self.descriptor = descriptor
        }

        /// Sends everything; `false` when time is up.
        func send(_ bytes: [UInt8], by end: Duration) -> Bool {
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    Glibc.send(descriptor.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
                }
                if count > 0 {
                    rest = rest.dropFirst(count)
                } else if errno == EAGAIN {
                    guard wait(for: POLLOUT, by: end) else { return false }
                } else if errno != EINTR {
                    // What it has said last says why.
                    return true
                }
            }
            return true
        }

        /// The next message, waiting for it; `nil` when time is up.
        mutating func next(by end: Duration) throws(ControlError) -> ControlMessage? {
            while true {
                guard let line = lines.popFirst() else {
                    guard wait(for: POLLIN, by: end) else { return nil }
                    guard let bytes = try? FileDescriptor(descriptor.number).readSome(name: "the daemon") else {
                        throw Self.ended
                    }
                    let (more, isTooLong) = reader.feed(bytes)
                    guard !isTooLong else { throw Self.strange(.tooLong) }
                    lines = more[...]
                    continue
                }
                do throws(ControlFrameError) {
                    let message = try ControlFrame.decode(line)
                    guard case .notification(let piece) = message, piece.method == ControlPieces.method else {
                        return message
                    }
                    guard let whole = try pieces.take(piece) else { continue }
                    return try ControlFrame.decode(whole, maximum: ControlFrame.maximumLongBytes)
                } catch {
                    throw Self.strange(error)
                }
            }
        }

        private static func strange(_ error: ControlFrameError) -> ControlError {
            ControlError(.internalError, "the daemon broke the control protocol: \(error.controlError.message)")
        }

        /// Waits until something can be read or written; `false` when time is up.
        private func wait(for what: Int32, by end: Duration) -> Bool {
            while true {
                var wait = pollfd(fd: descriptor.number, events: Int16(what), revents: 0)
                let rest = max(.zero, end - Self.clock.now)
                let ready = poll(&wait, 1, Int32(clamping: Int((rest.inSeconds * 1_000).rounded(.up))))
                if ready > 0 { return true }
                if ready == 0, end <= Self.clock.now { return false }
            }
        }
    }
}
