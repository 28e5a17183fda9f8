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
    func flush() {
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
                setWriteBlocked(true)
            } else {
                writeFailed(code)
            }
            break
        }
        if writes.isEmpty {
            setWriteBlocked(false)
            if state == .closing { sayGoodbye() }
        }
        if hasDrained, state == .open { handler?(.drained) }
    }

    /// Remembers the failure and reads on: what the peer said before it left may name the reason.
    private func writeFailed(_ code: Int32) {
        writeFailure = TransportError(SystemError(code, "send", peerAddress?.description ?? ""))
        writes.removeAll()
        setWriteBlocked(false)
        if state == .closing || hasInputEnded {
            finish(state == .closing ? nil : writeFailure)
        } else {
            isPaused = false
            updateWatch()
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

    private func setWriteBlocked(_ isBlocked: Bool) {
        isWriteBlocked = isBlocked
        updateWatch()
    }
}
