// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc

extension SocketTransport {
    /// Writes at the end of this turn, so that everything sent in the turn leaves together.
    func scheduleFlush() {
        guard !isFlushScheduled, state == .open || state == .closing else { return }
        isFlushScheduled = true
        executor.queue.async { [weak self] in
            guard let self else { return }
            isFlushScheduled = false
            flush()
        }
    }

    /// Writes until the queue is empty or the system takes no more.
    private func flush() {
        var hasDrained = false
        while writeFailure == nil, let descriptor, state == .open || state == .closing {
            // MSG_NOSIGNAL: a peer that is gone must be an error here, not a signal that ends the process.
            guard
                let written = writes.withFirst({
                    Glibc.send(descriptor.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                })
            else { break }
            if written >= 0 {
                if writes.consume(written) { hasDrained = true }
                continue
            }
            let code = errno
            if code == EINTR { continue }
            if code == EAGAIN || code == EWOULDBLOCK {
                watchWrites(descriptor)
            } else {
                writeFailed(code)
            }
            break
        }
        if writes.isEmpty {
            suspendWrites()
            if state == .closing { sayGoodbye() }
        }
        if hasDrained, state == .open { handler?(.drained) }
    }

    /// Remembers the failure and reads on: what the peer said before it left may name the reason.
    private func writeFailed(_ code: Int32) {
        writeFailure = TransportError(SystemError(code, "send", peerAddress?.description ?? ""))
        writes.removeAll()
        suspendWrites()
        if state == .closing || hasInputEnded {
            finish(state == .closing ? nil : writeFailure)
        } else {
            isPaused = false
            updateReadSource()
            scheduleContinuation()
        }
    }

    /// Tells the peer that nothing more will come.
    private func sayGoodbye() {
        guard !hasSaidGoodbye, let descriptor else { return }
        hasSaidGoodbye = true
        _ = shutdown(descriptor.number, Int32(SHUT_WR))
        if hasInputEnded { finish(nil) }
    }

    private func watchWrites(_ descriptor: Descriptor) {
        if writeSource == nil {
            let source = DispatchSource.makeWriteSource(fileDescriptor: descriptor.number, queue: executor.queue)
            source.setEventHandler { [weak self] in self?.flush() }
            source.setCancelHandler { withExtendedLifetime(descriptor) {} }
            writeSource = source
        }
        guard isWriteSourceSuspended else { return }
        isWriteSourceSuspended = false
        writeSource?.resume()
    }

    private func suspendWrites() {
        guard !isWriteSourceSuspended else { return }
        isWriteSourceSuspended = true
        writeSource?.suspend()
    }

    /// Lets go of both sources; their cancel handlers hold the descriptor until Dispatch no longer watches it.
    func cancelSources() {
        if isReadSourceSuspended { readSource?.resume() }
        isReadSourceSuspended = false
        readSource?.cancel()
        readSource = nil
        if isWriteSourceSuspended { writeSource?.resume() }
        isWriteSourceSuspended = true
        writeSource?.cancel()
        writeSource = nil
    }
}
