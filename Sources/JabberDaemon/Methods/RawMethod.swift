// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP

/// `raw`: a stanza of the caller's own making.
enum RawMethod {
    static func run(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let element = try parse(try call.parameters.required("xml"))
        let isForced = try call.parameters.flag("force")
        let session = try await call.session
        if await session.holding != nil, !isForced {
            throw ControlError(
                .usage, "the session of \(session.name) is shared with others; use --force, or --no-daemon",
                account: session.name)
        }
        var result = session.heading
        if element.localName == "iq" {
            let (sent, reply) = try await ask(element, session)
            result["sent"] = .string(try text(sent))
            result["reply"] = .string(try text(reply))
        } else {
            let stream = try await session.established()
            try await session.step { () throws(XMPPError) in
                try await stream.send(element)
                // A server that ends the stream over the stanza does so before it answers.
                try await stream.ping()
            }
            result["sent"] = .string(try text(element))
        }
        return result
    }

    /// Sends a request, with an id of the stream's making, and waits for its answer.
    private static func ask(
        _ element: Element, _ session: AccountSession
    ) async throws(ControlError) -> (sent: Element, reply: Element) {
        let request: IQ
        do {
            request = try IQ(element)
        } catch {
            throw ControlError(.badData, "\(error)")
        }
        guard request.kind.isRequest else {
            throw ControlError(.badData, "an iq of type \(request.kind.rawValue) answers a request that nobody made")
        }
        let stream = try await session.established()
        let reply = try await session.step { () throws(XMPPError) in try await stream.request(request) }
        var sent = element
        sent["id"] = reply.id
        return (sent, reply.element)
    }

    /// Reads one stanza; anything else on a stream would end it (RFC 6120 §4.9.3.24).
    private static func parse(_ xml: String) throws(ControlError) -> Element {
        let element: Element
        do {
            element = try Element.parse(xml.trimmedOfXMLWhitespace)
        } catch {
            throw ControlError(.badData, explanation(error))
        }
        guard element.namespace == Namespace.client, ["message", "presence", "iq"].contains(element.localName) else {
            throw ControlError(
                .badData, "<\(element.localName)/> is no stanza: message, presence or iq in \(Namespace.client)")
        }
        return element
    }

    private static func explanation(_ error: XMLStreamError) -> String {
        switch error {
        case .limitExceeded(let what): "the XML is more than this stream takes: \(what)"
        case .restrictedXML(let what): "the XML holds what XMPP does not allow: \(what)"
        case .notWellFormed, .badFormat, .unsupportedEncoding, .unsupportedVersion:
            "the XML is not one well-formed element with all its prefixes declared"
        }
    }

    private static func text(_ element: Element) throws(ControlError) -> String {
        do {
            return try XMLSerializer.string(element, defaultNamespace: Namespace.client)
        } catch {
            throw ControlError(.badData, "the stanza cannot be written: \(error)")
        }
    }
}
