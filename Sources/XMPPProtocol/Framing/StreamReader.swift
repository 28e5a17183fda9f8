// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
package import XMPPXML

/// Reads a stream, however it is framed: what comes out is the same.
///
/// As ``XMLStreamParser``, which does the work, it is not thread-safe and is made anew when a stream restarts.
package final class StreamReader {
    private let framing: StreamFraming
    private let parser: XMLStreamParser
    private var isOpen = false

    /// The root that messages are read inside of. The prefix is one that nobody declares by accident: a message has to
    /// declare its own namespaces (RFC 7395 §3.3.3).
    private static let root = Array("<_.:stream xmlns:_.=\"\(Namespace.streams)\">".utf8)

    /// Makes a reader for a new stream.
    package init(_ framing: StreamFraming = .document, limits: XMLLimits = .session) {
        self.framing = framing
        parser = XMLStreamParser(limits: limits)
        if framing == .messages { _ = parser.feed(Self.root[...], .batch) }
    }

    /// The limits in force; may be changed between stanzas.
    package var limits: XMLLimits {
        get { parser.limits }
        set { parser.limits = newValue }
    }

    /// Bytes kept until the tag or text that they begin is complete.
    package var bufferedBytes: Int { parser.bufferedBytes }

    /// Whether no element or tag is half read.
    package var isBetweenElements: Bool { parser.isBetweenElements }

    /// Reads bytes, as ``XMLStreamParser/feed(_:_:)``. Where messages are framed they must be exactly one message.
    package func feed(_ bytes: ArraySlice<UInt8>, _ mode: XMLStreamParser.Mode) -> XMLStreamParser.Outcome {
        switch framing {
        case .document: parser.feed(bytes, mode)
        case .messages: read(bytes)
        }
    }

    /// Reads one message: one element, whole, with nothing around it (RFC 7395 §3.3).
    private func read(_ message: ArraySlice<UInt8>) -> XMLStreamParser.Outcome {
        var outcome = XMLStreamParser.Outcome(consumed: message.count)
        guard message.first == UInt8(ascii: "<") else {
            outcome.error = .badFormat("a WebSocket message that does not begin with an element")
            return outcome
        }
        let parsed = parser.feed(message, .batch)
        if let error = parsed.error {
            outcome.error = error
            return outcome
        }
        guard parser.isBetweenElements, parsed.events.count == 1, let event = parsed.events.first else {
            outcome.error = .badFormat("a WebSocket message that is not exactly one element")
            return outcome
        }
        switch event {
        case .element(let element):
            outcome.events = events(element)
            if outcome.events.isEmpty { outcome.error = .badFormat("<\(element.localName)/> before <open/>") }
        case .passedOver(let element):
            outcome.events = [event]
            if !isOpen { outcome.error = .badFormat("<\(element.name.localName)/> before <open/>") }
        case .streamOpened, .streamClosed:
            outcome.error = .badFormat("a WebSocket message that is not exactly one element")
        }
        return outcome
    }

    /// What one message means; nothing when it comes before the beginning.
    private func events(_ element: Element) -> [XMLStreamEvent] {
        if element.isNamed("open", namespace: Namespace.framing), !isOpen {
            isOpen = true
            var root = Element("stream", namespace: Namespace.streams)
            for name in ["to", "from", "id", "version"] { root[name] = element[name] }
            root.language = element.language
            return [.streamOpened(root, contentNamespace: Namespace.client)]
        }
        if element.isNamed("close", namespace: Namespace.framing) {
            guard let place = element["see-other-uri"] else { return [.streamClosed] }
            // RFC 7395 §3.6.1: what a stream over TCP says with an error before its end.
            var error = StreamError(.seeOtherHost)
            error.conditionText = place
            return [.element(error.element), .streamClosed]
        }
        return isOpen ? [.element(element)] : []
    }
}
