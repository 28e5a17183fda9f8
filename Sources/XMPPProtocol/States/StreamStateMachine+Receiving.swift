// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
package import XMPPXML

extension StreamStateMachine {
    /// The parser completed an event.
    package mutating func received(_ event: XMLStreamEvent) -> [StreamAction] {
        keepalive.sawTraffic = true
        switch event {
        case .streamOpened(let root, let contentNamespace):
            return opened(root, contentNamespace: contentNamespace)
        case .element(let element):
            unfinished.quarters = 0
            return received(element)
        case .passedOver(let element):
            unfinished.quarters = 0
            return passedOver(element)
        case .streamClosed:
            return closedByServer()
        }
    }

    /// White space arrived between first-level elements: a sign of life, and nothing else (RFC 6120 §4.6.1).
    package mutating func receivedWhitespace() {
        keepalive.sawTraffic = true
    }

    /// The parser refused what the server sent.
    package mutating func parserFailed(_ error: XMLStreamError) -> [StreamAction] {
        switch state {
        case .ended: return []
        // What is not XML after our own end of the stream changes nothing about it.
        case .closing(let end): return finish(end) + [.abortTransport]
        case .idle, .opening, .awaitingFeatures, .startingTLS, .securing, .authenticating, .registering, .resuming,
            .binding,
            .established:
            return violate(StreamError(error))
        }
    }

    /// The server ended its side (RFC 6120 §4.4).
    private mutating func closedByServer() -> [StreamAction] {
        switch state {
        case .ended: return []
        case .closing(let end): return finish(end) + [.closeTransport]
        case .idle, .opening, .awaitingFeatures, .startingTLS, .securing, .authenticating, .registering, .resuming,
            .binding,
            .established:
            return [.endStream] + finish(.closedByServer) + [.closeTransport]
        }
    }

    /// Checks the server's stream header (RFC 6120 §4.7, §4.8).
    private mutating func opened(_ root: Element, contentNamespace: String) -> [StreamAction] {
        guard case .opening(let layer) = state else { return [] }
        guard root.isNamed("stream", namespace: Namespace.streams) else {
            return violate(StreamError(.invalidNamespace, text: "the root is \(root.name)"))
        }
        // §4.8.3: a prefix-free root has no default namespace of its own; the stanzas then say where they belong.
        guard contentNamespace == Namespace.client || contentNamespace == Namespace.streams else {
            return violate(StreamError(.invalidNamespace, text: "the content namespace is “\(contentNamespace)”"))
        }
        // §4.7.5: without version 1.0 there are no features, so no TLS and no SASL.
        guard let version = root["version"], StreamVersion.isUsable(version) else {
            return violate(StreamError(.unsupportedVersion))
        }
        // §13.7.2: where TLS proved the domain, the stream must be that domain's.
        if layer != .unprotected, let from = root["from"], (try? JID(from)) != configuration.account.domain {
            return violate(StreamError(.hostUnknown, text: "this stream is from another domain"))
        }
        state = .awaitingFeatures(layer)
        return []
    }

    /// Takes a first-level element.
    private mutating func received(_ element: Element) -> [StreamAction] {
        if element.isNamed("error", namespace: Namespace.streams) { return receivedStreamError(element) }
        // Before the look at the whole state: nearly every element comes this way.
        if isEstablished { return receivedInSession(element) }
        switch state {
        case .established: return receivedInSession(element)
        case .awaitingFeatures(let layer): return receivedAwaitingFeatures(element, layer)
        case .startingTLS: return receivedStartingTLS(element)
        case .authenticating(let negotiation): return receivedAuthenticating(element, negotiation)
        case .registering: return receivedRegistering(element)
        case .resuming(let features): return receivedResuming(element, features)
        case .binding(let binding, let features): return receivedBinding(element, binding, features)
        // A stanza that arrives while we wait for the server's end is still one.
        case .closing: return StreamManagement.isStanza(element) ? [.emit(.stanza(element))] : []
        case .idle, .opening, .securing, .ended: return []
        }
    }

    /// A first-level element was passed over. It counts like any other (XEP-0198 §4): the server would send it again.
    private mutating func passedOver(_ element: PassedOverElement) -> [StreamAction] {
        switch state {
        case .established:
            if StreamManagement.isStanza(element) { management.receivedStanza() }
            return [.emit(.passedOver(element))]
        case .closing:
            return StreamManagement.isStanza(element) ? [.emit(.passedOver(element))] : []
        case .ended:
            return []
        // Before the session nothing is passed over: an element that decides about it was not read.
        case .idle, .opening, .awaitingFeatures, .startingTLS, .securing, .authenticating, .registering, .resuming,
            .binding:
            return violate(StreamError(.policyViolation))
        }
    }

    /// From here on what is past a limit is passed over, where the owner wants that.
    var passingOver: [StreamAction] {
        configuration.passesOverOversized ? [.limit(configuration.sessionLimits.passingOver)] : []
    }

    /// A stream error ends the stream, whatever it says (RFC 6120 §4.9.1.1).
    private mutating func receivedStreamError(_ element: Element) -> [StreamAction] {
        switch state {
        case .ended: return []
        case .closing(let end): return finish(end) + [.closeTransport]
        case .idle, .opening, .awaitingFeatures, .startingTLS, .securing, .authenticating, .registering, .resuming,
            .binding,
            .established:
            return [.endStream] + finish(.streamError(StreamError(element))) + [.closeTransport]
        }
    }
}

/// The `version` of a stream header (RFC 6120 §4.7.5).
private enum StreamVersion {
    /// Whether a server with this version can be spoken to: 1.0, or a later one, which has to understand 1.0.
    static func isUsable(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy(isNumber) else { return false }
        return parts[0].contains { $0 != UInt8(ascii: "0") }
    }

    private static func isNumber(_ text: Substring.UTF8View) -> Bool {
        !text.isEmpty && text.allSatisfy { (0x30...0x39).contains($0) }
    }
}

extension StreamError {
    /// The stream error that answers XML which was refused (RFC 6120 §4.9.3, §11).
    init(_ error: XMLStreamError) {
        switch error {
        case .notWellFormed(let text): self.init(.notWellFormed, text: text)
        case .badFormat(let text): self.init(.badFormat, text: text)
        case .restrictedXML(let text): self.init(.restrictedXML, text: text)
        case .unsupportedEncoding(let text): self.init(.unsupportedEncoding, text: text)
        case .unsupportedVersion(let text): self.init(.unsupportedVersion, text: text)
        case .limitExceeded(let text): self.init(.policyViolation, text: text)
        }
    }
}
