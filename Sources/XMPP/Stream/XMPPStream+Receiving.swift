// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPProtocol
internal import XMPPXML

extension XMPPStream {
    /// Takes a stanza to where it belongs. One whose addresses are not JIDs is dropped; it has been counted.
    func route(_ element: Element) {
        switch element.localName {
        case "message": if let message = try? Message(element, &addresses) { route(message) }
        case "presence": if let presence = try? Presence(element, &addresses) { route(presence) }
        case "iq": route(iq: element)
        default: break
        }
    }

    /// The address that a missing `from` stands for (RFC 6120 §8.1.2.1).
    private var impliedSender: JID { account.bare }

    private func route(_ message: Message) {
        var message = message
        let from = message.from ?? impliedSender
        if message.from == nil { message.from = from }
        if let error = message.error {
            report(.messageBounced(message, error))
            return
        }
        // XEP-0359: what the archive has told already is not told again.
        guard archives?.tells(message.element) != false else { return }
        route(toldNow: message)
    }

    /// Takes a message of which nobody has been told to where it belongs.
    func route(toldNow message: Message) {
        let from = message.from ?? impliedSender
        // Each route is taken once, for the first child with its name. A message may have thousands of them, which are
        // not to be answered thousands of times.
        var taken: UInt64 = 0
        for child in message.element.eachChild where !child.isIn(Namespace.client) {
            guard let route = routes.messageRoute(child), taken & route.bit == 0 else { continue }
            taken |= route.bit
            guard isBelieved(from, by: route.provenance) else { continue }
            switch route.handler(self, message, child) {
            case .delivered: continue
            case .dropped: return
            case .event(let event): return report(event)
            }
        }
        if routedToRoom(message) { return }
        report(.message(message))
    }

    private func route(_ presence: Presence) {
        var presence = presence
        if presence.from == nil { presence.from = impliedSender }
        if routedToRoom(presence) { return }
        switch presence.kind {
        case .subscribe:
            // RFC 6121 §3.1.3: it comes from the bare address, whatever is written.
            presence.from = presence.from?.bare
            report(.subscriptionRequest(presence))
        case .available, .unavailable, .error:
            report(.presence(presence))
            if let transition = tracker.received(presence, now: .now) { report(transition) }
        case .subscribed, .unsubscribe, .unsubscribed:
            report(.presence(presence))
        case .probe:
            break
        }
    }

    private func route(iq element: Element) {
        let iq: IQ
        do {
            iq = try IQ(element, &addresses)
        } catch {
            // RFC 6120 §8.2.3: a type that does not exist is a bad request, the own server's too, which may come
            // without an address. An address that is none gets no answer.
            guard case .invalidType = error, let id = element["id"] else { return }
            do {
                refuseMalformed(id, from: try element.jid("from"))
            } catch {}
            return
        }
        guard iq.kind.isRequest else {
            answered(iq)
            return
        }
        // RFC 6120 §8.1.3: an IQ has an id. Without one its answer would belong to nothing, and be malformed itself.
        guard let id = iq.id else { return }
        // RFC 6120 §8.2.3: a request has exactly one child.
        guard element.children.count == 1, let payload = iq.payload else {
            refuseMalformed(id, from: iq.from)
            return
        }
        guard let route = routes.route(iq.kind, payload.name), isBelieved(iq.from, by: route.provenance) else {
            reply(iq.failure(.serviceUnavailable))
            return
        }
        answer(iq, route)
    }

    /// Refuses a request that is none. Strangers get the answer of a resource that is not there: any other would tell
    /// them that the user is.
    private func refuseMalformed(_ id: String, from: JID?) {
        let error: StanzaError = isBelieved(from, by: .contacts) ? .badRequest : .serviceUnavailable
        var answer = IQ(.error, to: from, id: id)
        answer.append(error.element)
        reply(answer)
    }

    /// A result or error: the answer to an open request, or nothing. It is never answered itself (RFC 6120 §8.2.3).
    func answered(_ iq: IQ) {
        guard case .answer(let id) = requests.received(iq) else { return }
        closeArchiveQuery(of: id)
        if let error = iq.error {
            var failure = XMPPError(error, from: iq.from)
            failure.form = iq.payload?.children.lazy.compactMap(DataForm.init).first { $0.kind == .form }
            resolve(id, .failure(failure))
        } else if iq.element.children.count > 1 {
            let error = StanzaError(.badRequest, kind: .modify, text: "the result has more than one child")
            resolve(id, .failure(XMPPError(error, from: iq.from)))
        } else {
            // The roster counts from this very moment: the presence behind it may be in the same read.
            if rosterRequest?.id == id { received(roster: iq) }
            resolve(id, .success(iq))
        }
    }

    private func answer(_ iq: IQ, _ route: RequestRoute) {
        let context = requestContext
        switch route.handler {
        case .immediate(let handler):
            do {
                reply(iq.result(try handler(iq, context)))
            } catch {
                reply(iq.failure(error))
            }
        case .stream(let handler):
            handler(self, iq)
        case .asynchronous(let handler):
            guard answersInProgress < Self.maximumAnswersInProgress else {
                reply(iq.failure(StanzaError(.resourceConstraint, kind: .wait)))
                return
            }
            answersInProgress += 1
            Task {
                let answer: IQ
                do {
                    answer = iq.result(try await handler(iq, context))
                } catch let error as StanzaError {
                    answer = iq.failure(error)
                } catch {
                    answer = iq.failure(StanzaError(.internalServerError, kind: .wait))
                }
                answersInProgress -= 1
                // What the program says may be long, as far as the server takes it.
                if !reply(answer, maximum: .max) { reply(iq.failure(StanzaError(.resourceConstraint, kind: .cancel))) }
                endTurn()
            }
        }
    }

    /// Sends an answer. Nobody waits for it, and where the stream has ended meanwhile it is moot. In an interrupted
    /// session it waits: the request counts as handled, so it will not come again.
    ///
    /// - Parameter maximum: How many bytes it may have. A longer one is left out.
    /// - Returns: Whether it has no more.
    @discardableResult
    func reply(_ answer: some Stanza, maximum: Int = XMPPStream.maximumAnswerBytes) -> Bool {
        let element = answer.element
        guard let bytes = try? framing.serialize(element, illegalCharacters: .replace),
            bytes.count <= min(maximum, maximumOutgoingBytes ?? .max)
        else {
            log(.step, "left unanswered: the answer would be too long for the server")
            return false
        }
        if keepSending(element, bytes) { return true }
        if isEstablished { write(element, bytes, at: .now) } else { machine.keep(element, at: .now) }
        return true
    }
}
