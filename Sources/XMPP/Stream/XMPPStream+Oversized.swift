// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPProtocol
internal import XMPPXML

/// Stanzas that are past a limit. The first one is refused with the stream (RFC 6120 §4.9.3.14). A server that keeps
/// what was not acknowledged sends it again, at each login for ever, and nothing behind it would arrive: so whoever
/// comes back passes over what is past a limit, and says so.
extension XMPPStream {
    /// How long ago the last such stanza was that is not worth another note; a day.
    private static let oversizedNoteInterval: Duration = .seconds(86_400)

    /// Something passed a limit: in a session, the next one is told.
    func metOversized() {
        guard machine.isEstablished else { return }
        let now = DateTime.now
        if let age = memory?.lastOversized?.age(at: now), (.zero..<Self.oversizedNoteInterval).contains(age) { return }
        remember { $0.lastOversized = now }
        let saving = savingMemory
        savingMemory = Task {
            await saving?.value
            await saveMemory()
        }
    }

    /// Bytes that a message of a WebSocket may have.
    var maximumMessageBytes: Int {
        let usual = configuration.limits.maximumStanzaBytes
        return memory?.passesOverOversized(at: .now) == true ? max(usual, XMLLimits.passedOverMessageBytes) : usual
    }

    /// A first-level element was passed over.
    func passedOver(_ element: PassedOverElement) {
        let stanza = OversizedStanza(element)
        log(.step, "not read: \(stanza)")
        metOversized()
        let isCounted = stanza.kind != .other
        if isCounted, configuration.observer?.takesStanzas() == false { machine.leaveTheRest() }
        report(.oversized(stanza))
        guard isCounted else { return }
        if stanza.kind == .iq { conclude(stanza) }
        // A store that keeps what arrives learns that something did.
        var stub = Element(element.name.localName, namespace: element.name.namespace)
        stub["from"] = stanza.from?.description
        stub["id"] = stanza.id
        stub["type"] = stanza.type
        arrivedStanza(stub, isReported: true)
    }

    /// A request gets an error, and whoever waits for an answer another.
    private func conclude(_ stanza: OversizedStanza) {
        guard let id = stanza.id, let kind = stanza.type.flatMap(IQ.Kind.init(rawValue:)) else { return }
        guard !kind.isRequest else {
            // Without an address nobody can be told.
            guard let from = stanza.from else { return }
            // A stranger must not learn by it that the user is there.
            let isKnown = isBelieved(from, by: .contacts)
            let error = isKnown ? StanzaError(.policyViolation, kind: .modify) : StanzaError.serviceUnavailable
            var answer = IQ(.error, to: from, id: id)
            answer.append(error.element)
            reply(answer)
            return
        }
        var answer = IQ(.error, id: id)
        answer.from = stanza.from
        guard case .answer(let id) = requests.received(answer) else { return }
        closeArchiveQuery(of: id)
        resolve(
            id, .failure(XMPPError(.tooLarge, "The answer of \(stanza.bytes) bytes was not read: it is past a limit.")))
    }
}
