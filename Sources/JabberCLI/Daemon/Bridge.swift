// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import JabberControl
internal import SocketIO

/// A control connection whose lines go to and from somebody else, as they are.
///
/// It knows of the messages only what it must: which requests are still to be answered, so that an input that has ended
/// does not cut off its own answers.
///
/// Unchecked: all state is confined to the executor's queue.
final class Bridge: @unchecked Sendable {
    /// Bytes that may wait for the daemon before the input waits as well: 1 MiB.
    private static let maximumPendingBytes = ControlConnection.comfortablePendingBytes

    private let transport: any ByteTransport
    private let write: @Sendable ([UInt8]) throws(ControlError) -> Void
    private let outcome = Handover<ControlError?>()
    private var requests = ControlLineReader()
    private var answers = ControlLineReader()
    private var open: Set<ControlID> = []
    /// What the daemon said of a line that is no request; it ends the connection then.
    private var refusal: ControlError?
    /// Whether the input had a line that is no request.
    private var isStrange = false
    private var hasInputEnded = false
    private var hasEnded = false
    private var roomWaiter: Handover<Void>?

    /// Makes a bridge; nothing moves before ``start()``.
    ///
    /// - Parameter write: Takes the daemon's bytes; while it does, nothing more is read from the daemon.
    init(_ transport: any ByteTransport, write: @escaping @Sendable ([UInt8]) throws(ControlError) -> Void) {
        self.transport = transport
        self.write = write
    }

    /// Begins to pass on what the daemon says. Must not be called on the executor's queue.
    func start() {
        transport.executor.queue.sync { transport.start { [weak self] in self?.received($0) } }
    }

    /// Passes bytes on to the daemon; returns when there is room for more.
    func send(_ bytes: [UInt8]) async {
        let room = Handover<Void>()
        transport.executor.queue.async {
            self.noteRequests(bytes)
            self.transport.send(bytes)
            guard self.transport.pendingBytes > Self.maximumPendingBytes, !self.hasEnded else { return room.give(()) }
            self.roomWaiter = room
        }
        await room.value()
    }

    /// Says that nothing more will be sent: the bridge ends with the last answer.
    func endInput() {
        transport.executor.queue.async {
            self.hasInputEnded = true
            self.endIfDone()
        }
    }

    /// Waits for the end.
    ///
    /// - Returns: Why it ended; `nil` when the input had ended and everything was answered.
    func ended() async -> ControlError? {
        await outcome.value()
    }

    private func noteRequests(_ bytes: [UInt8]) {
        let (lines, isTooLong) = requests.feed(bytes)
        if isTooLong { refuse(ControlFrameError.tooLong.controlError) }
        for line in lines {
            let message = try? ControlFrame.decode(line)
            if case .request(let request)? = message { open.insert(request.id) }
            // It is answered too, and ends the connection.
            if message == nil { isStrange = true }
        }
    }

    private func refuse(_ error: ControlError) {
        isStrange = true
        refusal = ControlError(.badData, "the input has a line that is no request: \(error.message)")
    }

    private func noteAnswer(_ line: [UInt8]) {
        guard case .response(let response)? = try? ControlFrame.decode(line) else { return }
        guard let id = response.id, open.remove(id) != nil else {
            if case .failure(let error) = response.result { refuse(error) }
            return
        }
    }

    private func received(_ event: TransportEvent) {
        switch event {
        case .received(let bytes):
            do throws(ControlError) {
                try write(bytes)
            } catch {
                return end(error)
            }
            for line in answers.feed(bytes).lines { noteAnswer(line) }
            endIfDone()
        case .drained:
            roomWaiter?.give(())
            roomWaiter = nil
        case .endOfInput, .closed:
            end(refusal ?? ControlError(.daemonEnded, "the daemon ended the connection"))
        }
    }

    private func endIfDone() {
        if hasInputEnded && open.isEmpty && !isStrange { end(nil) }
    }

    private func end(_ error: ControlError?) {
        hasEnded = true
        roomWaiter?.give(())
        roomWaiter = nil
        outcome.give(error)
    }
}
