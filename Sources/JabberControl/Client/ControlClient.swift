// SPDX-License-Identifier: Apache-2.0

internal import SocketIO

/// A program's way to the user's running `jabberctld`: calls its methods and listens to its events.
///
/// It connects when it is used first, and again after the daemon was restarted. Calls may be made from anywhere, many
/// at a time; each sequence of events has a connection of its own, so that who reads slowly holds nobody else up. A
/// daemon takes 64 connections.
///
/// Every method of the control protocol can be called with ``call(_:_:)``; those used most have functions of their own.
public actor ControlClient {
    /// How long a daemon may take to greet; 10 seconds.
    static let maximumGreetingWait: Duration = .seconds(10)
    /// How much longer than a call's own limit the daemon is waited for; 2 seconds. It answers in time unless it hangs.
    static let grace: Duration = .seconds(2)
    /// How long one is left alone that has too many clients, or is starting anew.
    static let pause: Duration = .milliseconds(50)

    /// The path of the control socket.
    nonisolated public let socket: String
    /// Name or address of the account that calls are about; `nil` for the default one.
    nonisolated public let account: String?
    /// How long a call may take, the wait for a daemon that is busy or starts anew included.
    nonisolated public let limit: Duration

    private var opening: Task<Result<Line, ControlError>, Never>?
    private var isClosed = false

    /// A connection, and who is at its other end.
    struct Line: Sendable {
        let caller: ControlCaller
        let greeting: ControlGreeting
    }

    /// Makes a client; nothing is done before the first call.
    ///
    /// - Parameters:
    ///   - socket: The path of the control socket; `nil` for `$JABBERCTL_SOCKET`, or the place of the user's daemon.
    ///   - account: Name or address of the account that calls are about; `nil` for the default one.
    ///   - limit: How long a call may take. Default 30 seconds.
    public init(socket: String? = nil, account: String? = nil, limit: Duration = .seconds(30)) {
        self.socket = socket ?? ControlSocket.usualPath
        self.account = account
        self.limit = limit
    }

    deinit {
        guard let opening else { return }
        Task { if case .success(let line) = await opening.value { await line.caller.close() } }
    }

    /// Connects, unless it is connected, and says who is there.
    ///
    /// - Throws: ``ControlError``: ``ControlErrorCode/daemonNotRunning`` when nobody listens,
    ///   ``ControlErrorCode/apiTooOld`` or ``ControlErrorCode/apiTooNew`` when the daemon is of another time,
    ///   ``ControlErrorCode/busy`` when it has too many clients, ``ControlErrorCode/timedOut`` when it hangs.
    @discardableResult
    public func connect() async throws(ControlError) -> ControlGreeting {
        try await line().greeting
    }

    /// Calls a method of the control protocol and waits for its answer.
    ///
    /// A daemon that is busy, or about to end, is asked again until the limit is over: it has not begun then.
    /// Cancelling the task ends the call.
    ///
    /// - Parameters:
    ///   - method: The command's name with a dot between its words, such as `roster.add`.
    ///   - parameters: The parameters by name. `session` is that of ``account`` unless it is given.
    /// - Returns: The result as the documentation of the method describes it.
    /// - Throws: ``ControlError``: the daemon's answer; ``ControlErrorCode/daemonEnded`` when it ended meanwhile, and
    ///   nobody knows what it has done; ``ControlErrorCode/timedOut``; and as ``connect()``.
    public func call(_ method: String, _ parameters: JSONObject = [:]) async throws(ControlError) -> JSONObject {
        try await call(method, parameters, mayRepeat: false)
    }

    /// Ends the connection, and every call; sequences of events go on. Nothing can be called afterwards.
    public func close() async {
        isClosed = true
        let opening = opening
        self.opening = nil
        guard case .success(let line)? = await opening?.value else { return }
        await line.caller.fail(ControlError(.cancelled, "the client was closed"))
        await line.caller.close()
    }

    /// Calls a method.
    ///
    /// - Parameter mayRepeat: Whether doing it twice is the same as once, so that it is asked again of a daemon that
    ///   has been started anew.
    func call(
        _ method: String, _ parameters: JSONObject, mayRepeat: Bool
    ) async throws(ControlError) -> JSONObject {
        let clock = SystemClock()
        let end = clock.now + limit
        var hadDaemon = false
        while true {
            do throws(ControlError) {
                let caller = try await line().caller
                // One that ends meanwhile may say so in its answer.
                hadDaemon = true
                return try await attempt(method, parameters, of: caller, within: end - clock.now)
            } catch {
                let isPassing = [.busy, .daemonEnding].contains(error.code)
                let isLost = error.code == .daemonEnded || error.code == .daemonNotRunning && hadDaemon
                guard isPassing || mayRepeat && isLost, clock.now + Self.pause < end, !Task.isCancelled else {
                    throw error
                }
                hadDaemon = true
            }
            try? await Task.sleep(for: Self.pause)
        }
    }

    private func attempt(
        _ method: String, _ parameters: JSONObject, of caller: ControlCaller, within rest: Duration
    ) async throws(ControlError) -> JSONObject {
        var parameters = parameters
        if parameters["session"] == nil, let account { parameters["session"] = ["account": .string(account)] }
        parameters["timeout"] = .number(max(rest.inSeconds, 0.001))
        let timer = Self.end(caller, after: rest + Self.grace, because: "no answer of the daemon: it hangs")
        defer { timer.cancel() }
        guard let result = try await caller.call(method, parameters).objectValue else {
            throw ControlError(.internalError, "the daemon's answer is no object")
        }
        return result
    }

    private func line() async throws(ControlError) -> Line {
        while true {
            guard !isClosed else { throw ControlError(.cancelled, "the client was closed") }
            let task: Task<Result<Line, ControlError>, Never>
            if let opening {
                task = opening
            } else {
                let socket = socket
                task = Task { await Self.open(socket) }
                opening = task
            }
            switch await task.value {
            case .failure(let error):
                if opening == task { opening = nil }
                throw error
            case .success(let line):
                if await !line.caller.isOver { return line }
                // It has ended since it was used last: whoever notices first begins the next one.
                if opening == task { opening = nil }
            }
        }
    }

    /// Opens a connection and waits for the greeting.
    static func open(_ socket: String) async -> Result<Line, ControlError> {
        do throws(ControlError) {
            let caller = ControlCaller(over: try await ControlSocket.connect(to: socket))
            let timer = end(caller, after: maximumGreetingWait, because: "the daemon does not greet: it hangs")
            defer { timer.cancel() }
            do throws(ControlError) {
                let greeting = try await caller.hello()
                try greeting.check()
                return .success(Line(caller: caller, greeting: greeting))
            } catch {
                await caller.close(within: grace)
                throw error
            }
        } catch {
            return .failure(error)
        }
    }

    private static func end(
        _ caller: ControlCaller, after time: Duration, because reason: String
    ) -> any ScheduledTimer {
        SystemClock().schedule(after: time, on: timers) {
            Task {
                await caller.fail(ControlError(.timedOut, reason))
                await caller.close(within: grace)
            }
        }
    }

    private static let timers = StreamExecutor(label: "jabberctl.client")
}
