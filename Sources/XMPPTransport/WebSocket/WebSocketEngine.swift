// SPDX-License-Identifier: Apache-2.0

internal import CWslay
internal import XMPPCrypto

/// The framing of WebSocket without a socket: bytes in, messages out, and the other way, through wslay (RFC 6455 §5).
///
/// wslay puts fragments together, checks masks, UTF-8 and reserved bits, and answers pings and the closing handshake.
/// Not thread-safe; whoever owns it keeps it on one queue.
final class WebSocketEngine {
    /// What came from the peer.
    enum Event: Equatable {
        /// A whole text message, in UTF-8; may be empty.
        case message([UInt8])
        /// The peer closes: its code (RFC 6455 §7.4), 0 without one, and its reason, for people.
        case closed(code: UInt16, reason: String)
    }

    /// What the peer must not do.
    struct Violation: Error, Equatable {
        let description: String
    }

    /// What wslay's callbacks work on.
    private final class Exchange {
        var input: ArraySlice<UInt8> = []
        /// Bytes of the frame's payload that wslay has not read; nil while it reads the frame's header.
        var payloadLeft: Int?
        var isClosing = false
        var output: [UInt8] = []
        var events: [Event] = []
        var hasBinary = false
        /// Whether the reason of the closing frame is no text.
        var isReasonBroken = false

        static func of(_ pointer: UnsafeMutableRawPointer) -> Exchange {
            Unmanaged<Exchange>.fromOpaque(pointer).takeUnretainedValue()
        }

        /// What wslay reads next: a header and a closing frame byte by byte, any other payload as it came.
        ///
        /// For wslay takes the first two bytes of each piece of a closing frame for its code, and so finds the reason
        /// to be no UTF-8 where a piece begins within a character: it looks at no piece of one byte, and
        /// ``received(_:)`` does.
        func read(into buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
            let wanted = isClosing ? 1 : payloadLeft ?? 1
            let piece = input.prefix(min(wanted, buffer.count))
            input = input.dropFirst(piece.count)
            _ = buffer.update(fromContentsOf: piece)
            isRead(piece.count)
            return piece.count
        }

        /// The header of a frame is read, and with it the first byte of a payload.
        func began(_ frame: wslay_event_on_frame_recv_start_arg) {
            isClosing = wslay_opcode(UInt32(frame.opcode)) == WSLAY_CONNECTION_CLOSE
            payloadLeft = Int(clamping: frame.payload_length)
            isRead(min(1, payloadLeft ?? 0))
        }

        private func isRead(_ count: Int) {
            guard let left = payloadLeft else { return }
            payloadLeft = left > count ? left - count : nil
            isClosing = isClosing && left > count
        }

        func received(_ message: wslay_event_on_msg_recv_arg) {
            let bytes = Array(UnsafeBufferPointer(start: message.msg, count: message.msg_length))
            switch wslay_opcode(UInt32(message.opcode)) {
            case WSLAY_TEXT_FRAME: events.append(.message(bytes))
            case WSLAY_BINARY_FRAME: hasBinary = true
            case WSLAY_CONNECTION_CLOSE:
                // The code comes first in the payload (RFC 6455 §5.5.1).
                let reason = bytes.dropFirst(2)
                isReasonBroken = String(validating: reason, as: UTF8.self) == nil
                events.append(.closed(code: message.status_code, reason: PrintableText.clean(Array(reason))))
            default: break
            }
        }
    }

    private let context: wslay_event_context_ptr
    private let exchange = Exchange()
    private let maximumMessageBytes: Int

    /// Begins after the handshake.
    ///
    /// - Parameters:
    ///   - isServer: Which side this is: a client masks what it sends.
    ///   - maximumMessageBytes: Bytes of a message at most; a longer one is a violation.
    /// - Throws: ``Violation`` when there is no memory.
    init(isServer: Bool, maximumMessageBytes: Int) throws(Violation) {
        var callbacks = wslay_event_callbacks()
        callbacks.recv_callback = { context, buffer, length, _, exchange in
            guard let buffer, let exchange else { return -1 }
            let space = UnsafeMutableBufferPointer(start: buffer, count: length)
            let count = Exchange.of(exchange).read(into: space)
            guard count > 0 else {
                wslay_event_set_error(context, WSLAY_ERR_WOULDBLOCK.rawValue)
                return -1
            }
            return count
        }
        callbacks.send_callback = { _, bytes, length, _, exchange in
            guard let bytes, let exchange else { return -1 }
            Exchange.of(exchange).output.append(contentsOf: UnsafeBufferPointer(start: bytes, count: length))
            return length
        }
        callbacks.genmask_callback = { _, buffer, length, _ in
            guard let buffer else { return -1 }
            _ = UnsafeMutableBufferPointer(start: buffer, count: length).update(
                fromContentsOf: SecureRandom().bytes(length))
            return 0
        }
        callbacks.on_frame_recv_start_callback = { _, frame, exchange in
            guard let frame, let exchange else { return }
            Exchange.of(exchange).began(frame.pointee)
        }
        callbacks.on_msg_recv_callback = { _, message, exchange in
            guard let message, let exchange else { return }
            Exchange.of(exchange).received(message.pointee)
        }
        let pointer = Unmanaged.passUnretained(exchange).toOpaque()
        var made: wslay_event_context_ptr?
        let result =
            isServer
            ? wslay_event_context_server_init(&made, &callbacks, pointer)
            : wslay_event_context_client_init(&made, &callbacks, pointer)
        guard result == 0, let made else { throw Violation(description: "memory ran out") }
        context = made
        self.maximumMessageBytes = maximumMessageBytes
        wslay_event_config_set_max_recv_msg_length(context, UInt64(maximumMessageBytes))
    }

    deinit {
        wslay_event_context_free(context)
    }

    /// Takes bytes from the peer.
    ///
    /// - Returns: What they completed, in order.
    /// - Throws: ``Violation``; nothing more can be read then, and the reason for the peer is in the output.
    func feed(_ bytes: ArraySlice<UInt8>) throws(Violation) -> [Event] {
        exchange.input = bytes
        // It comes back when a piece of a header was not yet all of it, and reads nothing after an error or a closing
        // frame.
        var (result, left) = (Int32(0), Int.max)
        while result == 0, exchange.input.count < left, !exchange.input.isEmpty {
            left = exchange.input.count
            result = wslay_event_recv(context)
        }
        exchange.input = []
        defer { exchange.events = [] }
        if exchange.hasBinary {
            _ = wslay_event_queue_close(context, UInt16(WSLAY_CODE_UNSUPPORTED_DATA.rawValue), nil, 0)
            throw Violation(description: "a binary message came, where XMPP is text")
        }
        guard result != WSLAY_ERR_NOMEM.rawValue else { throw Violation(description: "memory ran out") }
        // RFC 6455 §8.1.
        guard !exchange.isReasonBroken else {
            throw Violation(description: "a closing frame came with a reason that is not UTF-8")
        }
        // wslay stops reading when it has queued the reason for the peer.
        let isReading = wslay_event_get_read_enabled(context) == 1 || wslay_event_get_close_received(context) == 1
        guard result == 0, isReading else {
            throw Violation(
                description:
                    "a frame came that is malformed, or makes a message of more than \(maximumMessageBytes) bytes")
        }
        return exchange.events
    }

    /// Writes a text message.
    func send(_ message: ArraySlice<UInt8>) {
        queue(WSLAY_TEXT_FRAME, message)
    }

    /// Writes a ping without a payload: the peer answers it, and nobody hears of the answer.
    func ping() {
        queue(WSLAY_PING, [])
    }

    /// Writes the closing frame: nothing can be sent afterwards.
    func close() {
        _ = wslay_event_queue_close(context, UInt16(WSLAY_CODE_NORMAL_CLOSURE.rawValue), nil, 0)
    }

    /// Bytes for the peer; empty when there are none. Ask after every other call.
    func takeOutput() -> [UInt8] {
        _ = wslay_event_send(context)
        defer { exchange.output = [] }
        return exchange.output
    }

    private func queue(_ kind: wslay_opcode, _ payload: ArraySlice<UInt8>) {
        payload.withUnsafeBufferPointer { bytes in
            var message = wslay_event_msg(
                opcode: UInt8(truncatingIfNeeded: kind.rawValue), msg: bytes.baseAddress, msg_length: bytes.count)
            // Refused only after the closing frame: then nobody listens.
            _ = wslay_event_queue_msg(context, &message)
        }
    }
}
