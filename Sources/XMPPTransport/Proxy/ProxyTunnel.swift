// SPDX-License-Identifier: Apache-2.0

internal import SocketIO

/// A connection that a proxy passes on: the transport behind it is the server's.
///
/// Unchecked: all state is confined to the executor's queue.
final class ProxyTunnel: ByteTransport, @unchecked Sendable {
    private let lower: any ByteTransport
    private var dialogue: any ProxyDialogue
    private var completion: (@Sendable (ProxyError?) -> Void)?
    private var deadline: (any ScheduledTimer)?
    private var handler: (@Sendable (TransportEvent) -> Void)?
    /// What happened between the proxy's consent and ``start(_:)``.
    private var untold: [TransportEvent] = []
    /// The round trips that the proxy cost, which are not the server's.
    private var ownRoundTrips = 0

    init(over lower: any ByteTransport, _ dialogue: any ProxyDialogue) {
        self.lower = lower
        self.dialogue = dialogue
    }

    var executor: StreamExecutor { lower.executor }
    var pendingBytes: Int { lower.pendingBytes }
    var roundTrips: Int { lower.roundTrips - ownRoundTrips }
    /// The proxy may be on this machine; the server is somewhere else.
    var peerIsLoopback: Bool { false }

    /// Speaks to the proxy until there is a way. Once, before everything else.
    ///
    /// - Parameters:
    ///   - timeout: How long the proxy may take.
    ///   - clock: Where time comes from.
    ///   - completion: Called once on the queue with `nil`, or why there is no way; the connection is closed then.
    func open(
        within timeout: Duration, clock: any StreamClock, _ completion: @escaping @Sendable (ProxyError?) -> Void
    ) {
        self.completion = completion
        deadline = clock.schedule(after: timeout, on: executor) { [weak self] in
            guard let self else { return }
            end(ProxyError(dialogue.phase, .silent(timeout)))
        }
        lower.start { [weak self] event in self?.handle(event) }
        perform(dialogue.connected())
    }

    private func perform(_ actions: [ProxyAction]) {
        for action in actions {
            switch action {
            case .send(let bytes): lower.send(bytes)
            case .connected: end(nil)
            case .failed(let error): end(error)
            }
        }
    }

    private func handle(_ event: TransportEvent) {
        guard completion != nil else {
            if let handler { handler(event) } else { untold.append(event) }
            return
        }
        switch event {
        case .received(let bytes): perform(dialogue.received(bytes))
        case .drained: break
        case .endOfInput: end(ProxyError(dialogue.phase, .closed("")))
        case .closed(let error): end(ProxyError(dialogue.phase, .closed(error?.description ?? "")))
        }
    }

    private func end(_ error: ProxyError?) {
        guard let completion else { return }
        self.completion = nil
        deadline?.cancel()
        deadline = nil
        ownRoundTrips = lower.roundTrips
        // Nothing may come before there is somebody to hear it.
        if error == nil { lower.pauseReading() } else { lower.abort() }
        completion(error)
    }

    func start(_ handler: @escaping @Sendable (TransportEvent) -> Void) {
        self.handler = handler
        let events = untold
        untold = []
        if !events.isEmpty { executor.run { for event in events { self.handler?(event) } } }
        lower.resumeReading()
    }

    func replaceHandler(_ handler: @escaping @Sendable (TransportEvent) -> Void) { self.handler = handler }
    func send(_ bytes: [UInt8]) { lower.send(bytes) }
    func pauseReading() { lower.pauseReading() }
    func resumeReading() { lower.resumeReading() }
    func close() { lower.close() }

    func abort() {
        lower.abort()
        end(ProxyError(dialogue.phase, .closed("called off")))
    }
}
