// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPPTransport
internal import XMPPXML

/// The server's end of one scripted connection: what the client sends, taken apart, and the means to answer.
actor ScriptedConnection {
    /// A stream header, an element, a stream's end, or the rest that is no XML.
    struct Unit: Sendable {
        var text: String
        var element: Element?
    }

    nonisolated let executor: StreamExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let wire: ScriptedTransport
    private var transport: any ByteTransport
    private let clock = SystemClock()
    private var parser = XMLStreamParser()
    private var unfinished: [UInt8] = []
    private(set) var units: [Unit] = []
    /// The first unit that nobody has awaited yet.
    private var cursor = 0
    private(set) var hasEnded = false
    /// Whether the client's end of the stream is answered with ours (RFC 6120 §4.4).
    private var answersEnd = true
    private var waiter: CheckedContinuation<Void, Never>?
    private var channel: TLSProperties?

    /// Takes over the server's end of a connection.
    init(_ wire: ScriptedTransport) {
        self.wire = wire
        executor = wire.executor
        transport = wire
    }

    /// What the channel can be bound to; `nil` before TLS.
    var properties: TLSProperties? { channel }

    /// Begins to listen.
    func start() {
        transport.start { [weak self] event in self?.assumeIsolated { $0.handle(event) } }
    }

    /// Says that TLS may begin, and expects it from now on: in one turn, so that nothing comes in between.
    ///
    /// - Throws: ``TestSupportError`` when the client does not shake hands.
    func secure(_ context: TLSContext, saying proceed: String) async throws(TestSupportError) {
        transport.send(Array(proceed.utf8))
        let tls: TLSTransport
        do throws(TLSError) {
            tls = try TLSTransport(
                over: transport, context: context, role: .server,
                mode: .startTLS(pendingInput: unfinished))
        } catch {
            throw TestSupportError("TLS is not available: \(error)")
        }
        unfinished = []
        transport = tls
        let result: Result<TLSProperties, TLSError> = await withCheckedContinuation { continuation in
            tls.handshake { continuation.resume(returning: $0) }
        }
        switch result {
        case .success(let properties): channel = properties
        case .failure(let error): throw TestSupportError("the client did not agree on TLS: \(error)")
        }
        restart()
        start()
    }

    /// Expects a new stream header.
    func restart() {
        parser = XMLStreamParser()
    }

    /// Leaves the client's end of the stream unanswered from now on.
    func mute() {
        answersEnd = false
    }

    /// Sends bytes.
    func send(_ bytes: [UInt8]) {
        transport.send(bytes)
    }

    /// What is sent from now on arrives in pieces; under TLS the records do.
    func slice(_ bytes: Int?) {
        wire.sliceBytes = bytes
    }

    /// Ends the connection.
    func end(reset: Bool) {
        if reset { wire.reset() } else { transport.close() }
    }

    /// Waits for the next unit whose text contains `needle`.
    ///
    /// - Throws: ``TestSupportError`` when it does not come in time.
    func next(containing needle: String, within limit: Duration) async throws(TestSupportError) -> Unit {
        let deadline = clock.now + limit
        while true {
            while cursor < units.count {
                let unit = units[cursor]
                cursor += 1
                if unit.text.contains(needle) { return unit }
            }
            guard !hasEnded else {
                throw TestSupportError("the client left and had not sent “\(needle)”; it sent \(units.map(\.text))")
            }
            guard clock.now < deadline else {
                throw TestSupportError(
                    "the client did not send “\(needle)” within \(limit); it sent \(units.map(\.text))")
            }
            await change(until: deadline)
        }
    }

    /// Waits until the client has closed the connection.
    ///
    /// - Throws: ``TestSupportError`` when it does not in time.
    func untilEnd(within limit: Duration) async throws(TestSupportError) {
        let deadline = clock.now + limit
        while !hasEnded {
            guard clock.now < deadline else { throw TestSupportError("the client did not leave within \(limit)") }
            await change(until: deadline)
        }
    }

    /// Waits until something has happened, or the time is up.
    private func change(until deadline: Duration) async {
        let timer = clock.schedule(after: deadline - clock.now, on: executor) { [weak self] in
            self?.assumeIsolated { $0.wake() }
        }
        await withCheckedContinuation { waiter = $0 }
        timer.cancel()
    }

    private func wake() {
        waiter?.resume()
        waiter = nil
    }

    private func handle(_ event: TransportEvent) {
        switch event {
        case .received(let bytes): received(bytes)
        case .drained: break
        case .endOfInput:
            hasEnded = true
            transport.close()
        case .closed: hasEnded = true
        }
        wake()
    }

    /// Cuts what the client sent at the ends of headers and elements.
    private func received(_ bytes: [UInt8]) {
        unfinished += bytes
        var fed = bytes[...]
        while !fed.isEmpty {
            let outcome = parser.feed(fed, .oneEvent)
            fed = fed.dropFirst(outcome.consumed)
            if let event = outcome.events.first {
                let text = String(decoding: unfinished.dropLast(fed.count), as: UTF8.self)
                unfinished = Array(unfinished.suffix(fed.count))
                switch event {
                case .streamOpened(let header, _): units.append(Unit(text: text, element: header))
                case .element(let element): units.append(Unit(text: text, element: element))
                case .passedOver: units.append(Unit(text: text))
                case .streamClosed:
                    units.append(Unit(text: text))
                    guard answersEnd else { break }
                    transport.send(Array(XMLSerializer.closeTag.utf8))
                    transport.close()
                }
            }
            if outcome.error != nil {
                units.append(Unit(text: String(decoding: unfinished, as: UTF8.self)))
                unfinished = []
                return
            }
            if outcome.consumed == 0 { return }
        }
    }
}
