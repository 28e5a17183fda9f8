// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc

extension SocketTransport {
    /// Outcome of one read.
    private enum ReadResult {
        case bytes([UInt8])
        case end
        case nothing
        case failed(Int32)
    }

    /// Begins to read, and writes what has waited.
    func activate() {
        guard descriptor != nil else { return }
        state = .open
        updateWatch()
        if !writes.isEmpty { scheduleFlush() }
    }

    /// The socket is ready for something of what is waited for.
    func socketIsReady() {
        readAvailable()
        if isWriteBlocked { flush() }
    }

    /// Whether bytes may be taken from the system. While closing they are read and dropped, to see the peer's end.
    private var mayRead: Bool {
        guard descriptor != nil, !hasInputEnded else { return false }
        return state == .closing || (state == .open && !isPaused)
    }

    /// Waits for what the state asks for.
    func updateWatch() {
        var interest: Readiness = []
        if mayRead { interest.insert(.reading) }
        if isWriteBlocked { interest.insert(.writing) }
        watch?.wait(for: interest)
    }

    /// Reads on in a turn of its own.
    func scheduleContinuation() {
        guard !isContinuationScheduled, mayRead else { return }
        isContinuationScheduled = true
        executor.queue.async { [weak self] in
            guard let self else { return }
            isContinuationScheduled = false
            readAvailable()
        }
    }

    /// Reads until nothing is left, or until this turn's share is used up.
    ///
    /// Every turn ends with "would block", the end, or a continuation: what one event has told of is taken at once.
    func readAvailable() {
        var share = Self.maximumBytesPerTurn
        while mayRead, let descriptor {
            guard share > 0 else { return scheduleContinuation() }
            switch Self.read(descriptor, atMost: share) {
            case .bytes(let bytes):
                share -= bytes.count
                acknowledgeAtOnce(descriptor)
                if hasSentSinceReading {
                    hasSentSinceReading = false
                    roundTrips += 1
                }
                if state == .open { handler?(.received(bytes)) }
            case .nothing:
                return
            case .end:
                return inputEnded()
            case .failed(let code):
                let error = TransportError(SystemError(code, "recv", peerAddress?.description ?? ""))
                return finish(state == .closing ? nil : writeFailure ?? error)
            }
        }
    }

    /// Lets the system acknowledge the first reads of a TCP connection at once (TCP_QUICKACK).
    ///
    /// Opening a stream is a dialogue of small pieces: a peer that waits for an acknowledgement before it sends the
    /// next one (Nagle's algorithm, RFC 896) would wait the 40 ms for which the system holds acknowledgements back. It
    /// takes the option back by itself, so it is set after each read.
    private func acknowledgeAtOnce(_ descriptor: Descriptor) {
        guard quickReadsLeft > 0 else { return }
        quickReadsLeft -= 1
        var on: Int32 = 1
        _ = setsockopt(
            descriptor.number, Int32(IPPROTO_TCP), TCP_QUICKACK, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    private func inputEnded() {
        hasInputEnded = true
        updateWatch()
        if state == .closing {
            if hasSaidGoodbye || writeFailure != nil { finish(nil) }
            return
        }
        handler?(.endOfInput)
        if let writeFailure { finish(writeFailure) }
    }

    private static func read(_ descriptor: Descriptor, atMost limit: Int) -> ReadResult {
        withUnsafeTemporaryAllocation(byteCount: limit, alignment: 16) { buffer in
            while true {
                let count = recv(descriptor.number, buffer.baseAddress, buffer.count, 0)
                if count > 0 { return .bytes(Array(UnsafeRawBufferPointer(rebasing: buffer.prefix(count)))) }
                if count == 0 { return .end }
                switch errno {
                case EINTR: continue
                case EAGAIN, EWOULDBLOCK: return .nothing
                case let code: return .failed(code)
                }
            }
        }
    }
}
