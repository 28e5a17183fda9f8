// SPDX-License-Identifier: Apache-2.0

internal import SocketIO
internal import XMPPCore
internal import XMPPCrypto
internal import XMPPProtocol
internal import XMPPTransport
internal import XMPPXML

/// One client's connection to a ``LoopbackServer``: from the first byte to the last.
///
/// Not `Sendable`: it belongs to the server's actor; what happens on the network comes in through ``LoopbackMailbox``.
final class LoopbackSession {
    /// Through which of the server's ports the client came.
    enum Entrance {
        /// The stream comes first.
        case plain
        /// TLS comes before the stream (XEP-0368).
        case directTLS
        /// TLS, then a WebSocket (RFC 7395), or one of these documents.
        case webSocket(documents: [String: WebReply])
    }

    /// How far the client has come.
    enum Phase: Equatable {
        /// A stream header has to come; ``LoopbackSession/address`` tells which one.
        case awaitingHeader
        /// Features were sent: STARTTLS and SASL are to come.
        case negotiating
        /// TLS is being agreed on, or a WebSocket inside of it.
        case securing
        /// Authenticated; a resource has to be bound.
        case binding
        /// Stanzas flow.
        case bound
        /// The connection is lost, and the session waits for another one.
        case hibernating
        /// The end was said by this side.
        case ended
    }

    let id: Int
    let entrance: Entrance
    let socket: SocketTransport
    let router: LoopbackRouter
    let mailbox: LoopbackMailbox
    let context: TLSContext?
    let record: (LoopbackRecord) -> Void
    /// Faults of the layer inside TLS.
    let streamFaults: [LoopbackFault]

    var transport: any ByteTransport
    let framing: StreamFraming
    var parser: StreamReader
    var phase = Phase.awaitingHeader
    var isSecure = false
    var channel: TLSProperties?
    var authenticator: LoopbackAuthenticator?
    /// What goes with the authentication that is under way (XEP-0388).
    var extensible: ExtensibleRequest?
    /// The token of an invitation that was shown and is good (XEP-0445).
    var invitation: String?
    /// The bare JID once authenticated, the full one once bound.
    var address: JID?
    var acknowledgements = LoopbackAcknowledgements()
    /// What the server has in its hands.
    var held: [Element] = []

    var presence: Presence?
    var isInterested = false
    var directed: Set<JID> = []
    var receivedBytes = 0

    init(
        id: Int, entrance: Entrance, socket: SocketTransport, wireFaults: [LoopbackFault],
        streamFaults: [LoopbackFault],
        context: TLSContext?, router: LoopbackRouter, mailbox: LoopbackMailbox,
        record: @escaping (LoopbackRecord) -> Void
    ) {
        self.id = id
        self.entrance = entrance
        framing = if case .webSocket = entrance { .messages } else { .document }
        parser = StreamReader(framing, limits: .beforeAuthentication)
        self.socket = socket
        self.streamFaults = streamFaults
        self.context = context
        self.router = router
        self.mailbox = mailbox
        self.record = record
        transport =
            wireFaults.isEmpty
            ? socket : FaultyTransport(over: socket, faults: wireFaults) { [weak socket] in socket?.reset() }
    }

    /// Begins to read, after a TLS handshake when that comes first.
    func start() {
        switch entrance {
        case .plain: transport.start(mailbox.events)
        case .directTLS, .webSocket: secure(.direct)
        }
    }

    /// Agrees on TLS.
    func secure(_ mode: TLSTransport.Mode) {
        guard let context, let tls = try? TLSTransport(over: transport, context: context, role: .server, mode: mode)
        else { return abort() }
        phase = .securing
        transport = tls
        tls.handshake(mailbox.handshake)
    }

    /// TLS is agreed on, or the client did not like it.
    func handshakeEnded(_ properties: TLSProperties?) {
        guard phase == .securing else { return }
        guard let properties else {
            phase = .ended
            return mailbox.ended(nil)
        }
        channel = properties
        isSecure = true
        if !streamFaults.isEmpty {
            transport = FaultyTransport(over: transport, faults: streamFaults) { [weak socket] in socket?.reset() }
        }
        if case .webSocket(let documents) = entrance { return upgrade(documents) }
        restart()
        transport.start(mailbox.events)
    }

    /// Agrees on a WebSocket inside of TLS.
    private func upgrade(_ documents: [String: WebReply]) {
        guard
            let webSocket = try? WebSocketTransport(
                over: transport, role: .server(path: router.options.webSocketPath, documents: documents),
                maximumMessageBytes: XMLLimits.session.maximumStanzaBytes)
        else { return abort() }
        transport = webSocket
        webSocket.upgrade(mailbox.upgrade)
    }

    /// There is a WebSocket, or the client asked for something else.
    func upgradeEnded(_ result: Result<Void, WebSocketError>) {
        guard phase == .securing else { return }
        if case .failure = result {
            phase = .ended
            return mailbox.ended(nil)
        }
        restart()
        transport.start(mailbox.events)
    }

    /// A new stream on the same connection (RFC 6120 §4.3.3).
    func restart() {
        parser = StreamReader(framing, limits: address == nil ? .beforeAuthentication : .session)
        phase = .awaitingHeader
    }

    /// Takes bytes from the client.
    func received(_ bytes: [UInt8]) {
        receivedBytes += bytes.count
        var rest = bytes[...]
        while !rest.isEmpty, phase != .ended, phase != .hibernating, phase != .securing {
            let outcome = parser.feed(rest, phase == .bound ? .batch : .oneEvent)
            rest = rest.dropFirst(outcome.consumed)
            for event in outcome.events where phase != .ended { handle(event, rest: &rest) }
            if let error = outcome.error, phase != .ended {
                return fail(StreamError(Self.condition(of: error)))
            }
            if outcome.consumed == 0 { break }
        }
    }

    private func handle(_ event: XMLStreamEvent, rest: inout ArraySlice<UInt8>) {
        switch event {
        case .streamOpened(let header, let contentNamespace):
            record(LoopbackRecord(connection: id, account: address, direction: .fromClient, element: header))
            open(header, contentNamespace)
        case .element(let element):
            record(LoopbackRecord(connection: id, account: address, direction: .fromClient, element: element))
            switch phase {
            case .negotiating: negotiate(element, rest: &rest)
            case .binding: bind(element)
            case .bound: take(element)
            case .awaitingHeader, .securing, .hibernating, .ended: break
            }
        case .passedOver:
            break
        case .streamClosed:
            close()
        }
    }

    // MARK: Sending

    /// Sends a first-level element.
    func send(_ element: Element) {
        guard phase != .ended else { return }
        if phase != .hibernating { write(element) }
        if acknowledgements.sent(element, requestEvery: router.options.requestsAcknowledgementEvery),
            phase != .hibernating
        {
            write(Element("r", namespace: Namespace.streamManagement))
        }
    }

    /// Writes a first-level element without counting it.
    func write(_ element: Element) {
        guard let bytes = try? framing.serialize(element, illegalCharacters: .replace) else { return }
        record(LoopbackRecord(connection: id, account: address, direction: .toClient, element: element))
        transport.send(bytes)
    }

    /// Ends the stream with an error (RFC 6120 §4.9).
    func fail(_ error: StreamError) {
        send(error.element)
        close()
    }

    /// Ends the stream and the connection.
    func close() {
        if phase == .hibernating { return expire() }
        guard phase != .ended else { return }
        let wasOpen = phase != .securing
        phase = .ended
        if wasOpen { transport.send(framing.closing) }
        transport.close()
        leave()
        // Whoever says goodbye without having acknowledged everything has not got it.
        reroutePending()
    }

    /// Ends the connection without a word.
    func abort() {
        phase = .ended
        transport.abort()
        leave()
    }

    /// Tells contacts that this resource is gone.
    func leave() {
        if address?.isFull == true { router.disconnect(self) }
        mailbox.ended(nil)
    }

    /// RFC 6120 §4.9.3 for what the parser refused.
    private static func condition(of error: XMLStreamError) -> StreamError.Condition {
        switch error {
        case .notWellFormed: .notWellFormed
        case .badFormat: .badFormat
        case .restrictedXML: .restrictedXML
        case .unsupportedEncoding: .unsupportedEncoding
        case .unsupportedVersion: .unsupportedVersion
        case .limitExceeded: .policyViolation
        }
    }
}

extension LoopbackSession: LoopbackEndpoint {
    var jid: JID { address ?? router.domain }

    func deliver(_ stanza: Element) { send(stanza) }

    func end(_ error: StreamError) {
        fail(error)
    }
}
