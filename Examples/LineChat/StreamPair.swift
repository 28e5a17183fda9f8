// SPDX-License-Identifier: Apache-2.0

import Dispatch
import ExampleSockets

/// What happens to a pair of streams.
enum StreamEvent: Hashable {
    /// Both directions are open.
    case opened
    /// ``StreamPair/read()`` gives something.
    case bytesAvailable
    /// ``StreamPair/write(_:)``, which could not take everything, takes more now.
    case spaceAvailable
    /// The pair has failed, and is closed.
    case failed(SocketError)
    /// The peer has ended the stream, and the pair is closed.
    case ended
}

/// Hears what happens to a pair of streams.
@MainActor
protocol StreamPairDelegate: AnyObject {
    /// Something happened. Bytes that are available must be read.
    func streams(_ pair: StreamPair, handle event: StreamEvent)
}

/// The two directions of one TCP connection, scheduled on the main event loop. Nothing here waits: the delegate hears
/// when there is something to do.
@MainActor
final class StreamPair {
    /// Reads in a row before others on the event loop have their turn.
    private static let maximumReadsAtOnce = 8

    weak var delegate: (any StreamPairDelegate)?
    private var socket: Descriptor?
    private var connecting: Task<Void, Never>?
    private var reading: (any DispatchSourceRead)?
    private var writing: (any DispatchSourceWrite)?
    private var mayHaveBytes = false
    private var wasRead = false

    /// Connects; ``StreamEvent/opened`` or ``StreamEvent/failed(_:)`` follows within the limit.
    func open(_ host: String, port: UInt16, within limit: DispatchTimeInterval, sendBufferBytes: Int32? = nil) {
        connecting = Task {
            do throws(SocketError) {
                let socket = try await Descriptor.connect(to: host, port: port, by: .now() + limit)
                if let sendBufferBytes { socket.limitSendBuffer(toBytes: sendBufferBytes) }
                // Closed meanwhile: the socket goes with its only owner.
                if !Task.isCancelled { open(socket) }
            } catch {
                if !Task.isCancelled { delegate?.streams(self, handle: .failed(error)) }
            }
        }
    }

    /// Takes over a connection that exists.
    func open(_ socket: Descriptor) {
        self.socket = socket
        let source = DispatchSource.makeReadSource(fileDescriptor: socket.number, queue: .main)
        source.setEventHandler { [weak self] in self?.bytesCame() }
        // The event loop lets go of the descriptor before it is closed.
        source.setCancelHandler { withExtendedLifetime(socket) {} }
        source.activate()
        reading = source
        delegate?.streams(self, handle: .opened)
    }

    /// What has come; nothing when all was read.
    func read() -> [UInt8] {
        guard let socket else { return [] }
        wasRead = true
        do throws(SocketError) {
            guard let bytes = try socket.read() else {
                mayHaveBytes = false
                return []
            }
            if bytes.isEmpty { finish(.ended) }
            return bytes
        } catch {
            finish(.failed(error))
            return []
        }
    }

    /// Writes what fits into the send buffer. When that is not all, ``StreamEvent/spaceAvailable`` follows.
    ///
    /// - Returns: How many bytes were taken.
    func write(_ bytes: some Collection<UInt8>) -> Int {
        guard let socket else { return 0 }
        do throws(SocketError) {
            let count = try socket.write(bytes)
            if count < bytes.count { askForSpace(socket) }
            return count
        } catch {
            finish(.failed(error))
            return 0
        }
    }

    /// Closes both directions. Nothing is heard of the pair any more.
    func close() {
        delegate = nil
        letGo()
    }

    private func letGo() {
        connecting?.cancel()
        reading?.cancel()
        writing?.cancel()
        (connecting, reading, writing, socket) = (nil, nil, nil, nil)
    }

    /// Closes at once and tells a little later: the delegate must not hear of an end in the middle of its own reading
    /// and writing.
    private func finish(_ event: StreamEvent) {
        letGo()
        DispatchQueue.main.async { self.delegate?.streams(self, handle: event) }
    }

    /// Has the delegate read until there is nothing: an end that came together with bytes is not announced again.
    private func bytesCame() {
        mayHaveBytes = true
        for _ in 0..<Self.maximumReadsAtOnce {
            wasRead = false
            delegate?.streams(self, handle: .bytesAvailable)
            guard mayHaveBytes, wasRead, socket != nil else { return }
        }
        DispatchQueue.main.async { [weak self] in self?.bytesCame() }
    }

    /// Asks once: a socket is writable nearly always, and a source that stays would fire for ever.
    private func askForSpace(_ socket: Descriptor) {
        guard writing == nil else { return }
        let source = DispatchSource.makeWriteSource(fileDescriptor: socket.number, queue: .main)
        source.setEventHandler { [weak self] in
            guard let self else { return }
            writing?.cancel()
            writing = nil
            delegate?.streams(self, handle: .spaceAvailable)
        }
        source.setCancelHandler { withExtendedLifetime(socket) {} }
        source.activate()
        writing = source
    }
}
