// SPDX-License-Identifier: Apache-2.0

/// The parser of one XML stream: bytes in, whole first-level elements out (RFC 6120 §4.2).
///
/// A stream that restarts gets a new parser (RFC 6120 §4.3.3). The events do not depend on how the bytes were cut into
/// reads, not even within a character. Not thread-safe: it belongs to its stream's executor.
///
/// Two layers share the work. ``StreamFramer`` finds the ends of tags and elements, counts the limits and refuses what
/// XMPP forbids; libxml2 is handed whole tags only and decides about names, namespaces and values.
package final class XMLStreamParser {
    /// How far one call of ``feed(_:_:)`` goes.
    package enum Mode: Sendable {
        /// Everything is parsed.
        case batch
        /// Parsing stops right after the byte that completes one event: for negotiation, where the bytes after
        /// `<proceed/>` or `<success/>` belong to the next layer (RFC 6120 §5.3.3, §6.3.5).
        case oneEvent
    }

    /// What one call of ``feed(_:_:)`` brought.
    package struct Outcome: Sendable, Equatable {
        /// The events completed, in order.
        package var events: [XMLStreamEvent] = []
        /// How many of the given bytes were taken; without meaning after an error.
        package var consumed: Int = 0
        /// Why parsing ended for good; `events` came before it.
        package var error: XMLStreamError?

        /// Makes an outcome.
        package init(events: [XMLStreamEvent] = [], consumed: Int = 0, error: XMLStreamError? = nil) {
            self.events = events
            self.consumed = consumed
            self.error = error
        }
    }

    /// The limits in force; may be changed between stanzas.
    package var limits: XMLLimits

    /// Names in libxml2's dictionary, which never shrinks, past which the context is renewed; an ordinary stream has
    /// some hundreds.
    package static let maximumDictionaryNames = 4_096
    /// Bytes of these names past which the context is renewed.
    package static let maximumDictionaryBytes = 262_144
    /// Bytes handed to libxml2 at a time, when elements are shorter; between two hand-overs a renewal is possible.
    private static let handOverBytes = 32_768
    /// Bytes handed over at once past which libxml2's buffers are worth giving back, with its context.
    private static let swollenBytes = 131_072

    var framer = StreamFramer()
    var sax = SAXContext()
    /// Bytes of an unfinished tag or text, at most one first-level element.
    var pending: [UInt8] = []
    /// The root's start tag, replayed into a renewed context.
    var header: [UInt8] = []
    var failure: XMLStreamError?
    /// Whether libxml2's input buffer has grown past what a quiet stream should keep.
    private var isSwollen = false
    /// The element that is being passed over; `nil` while none is.
    var passed: PassedElement?

    /// How often the libxml2 context was renewed.
    package private(set) var renewals = 0

    /// Makes a parser for a new stream.
    package init(limits: XMLLimits = .session) {
        self.limits = limits
    }

    /// The names that libxml2 holds now.
    package var dictionaryNames: Int { sax.dictionaryCount }

    /// Bytes kept until the tag or text that they begin is complete.
    package var bufferedBytes: Int { pending.count }

    /// Whether no element or tag is half read.
    package var isBetweenElements: Bool { framer.isBetweenUnits }

    /// Parses bytes.
    ///
    /// White space between first-level elements is taken and forgotten. After an error, every call returns it again
    /// and takes nothing. After the root's end only white space is taken; anything else is an error.
    package func feed(_ bytes: ArraySlice<UInt8>, _ mode: Mode) -> Outcome {
        var outcome = Outcome()
        if let failure {
            outcome.error = failure
            return outcome
        }
        bytes.withUnsafeBufferPointer { feed($0, mode, &outcome) }
        framer.finishBuffer()
        outcome.error = failure
        if failure != nil { pending = [] }
        return outcome
    }

    private func feed(_ bytes: UnsafeBufferPointer<UInt8>, _ mode: Mode, _ outcome: inout Outcome) {
        // Bytes before `start` are with libxml2, in `pending`, or were white space.
        var start = 0
        while failure == nil {
            let stop = framer.scan(bytes, limits)
            outcome.consumed = framer.position
            if passed != nil {
                if hasEndedPassing(bytes, &start, stop, &outcome), mode == .oneEvent { return }
                if case .end = stop { return }
                continue
            }
            switch stop {
            case .limit:
                beginPassingOver(bytes, &start, &outcome)
            case .unit:
                let isHeader = header.isEmpty
                if isHeader { keepHeader(bytes, &start) }
                guard mode == .oneEvent || isHeader || framer.position - start >= Self.handOverBytes else { continue }
                handOver(bytes, &start, &outcome)
                if mode == .oneEvent { return }
            case .end:
                handOver(bytes, &start, &outcome)
                if failure == nil { keepRest(bytes, start) }
                return
            case .error(let error):
                // What came before the refused byte may hold an earlier error: that one counts.
                handOver(bytes, &start, &outcome)
                if failure == nil { failure = error }
            }
        }
    }

    /// Hands the tags completed in this buffer to libxml2, with what was pending, and takes the events.
    func handOver(_ bytes: UnsafeBufferPointer<UInt8>, _ start: inout Int, _ outcome: inout Outcome) {
        guard framer.tokenEnd > start else { return }
        let ready = UnsafeBufferPointer(rebasing: bytes[start..<framer.tokenEnd])
        start = framer.tokenEnd
        isSwollen = isSwollen || pending.count + ready.count > Self.swollenBytes
        if pending.isEmpty {
            sax.parse(ready)
        } else {
            pending.append(contentsOf: ready)
            pending.withUnsafeBufferPointer(sax.parse)
            pending.removeAll(keepingCapacity: pending.count <= Self.handOverBytes)
        }
        outcome.events += sax.takeEvents()
        failure = sax.failure
        // Were the two layers ever to see different elements, nothing that follows could be trusted.
        if failure == nil && sax.depth != framer.depth {
            failure = .notWellFormed("markup that is not well-formed")
        }
        if failure == nil && sax.depth == 1 { renewIfDue() }
    }

    /// Keeps the root's start tag, which has just ended.
    private func keepHeader(_ bytes: UnsafeBufferPointer<UInt8>, _ start: inout Int) {
        // White space and the XML declaration before the root are not for libxml2.
        start = max(start, framer.unitStart)
        dropStalePending()
        header = pending + bytes[start..<framer.position]
    }

    /// Keeps the beginning of an unfinished tag or text.
    private func keepRest(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int) {
        guard !framer.isBetweenUnits else { return }
        dropStalePending()
        pending.append(contentsOf: bytes[max(start, framer.unitStart)...])
    }

    /// Forgets the beginning of an XML declaration that was kept because its `<` might have been the root's.
    func dropStalePending() {
        if framer.unitStart >= 0 { pending.removeAll() }
    }

    /// Starts a fresh libxml2 context when the old one holds too many names: its dictionary only grows, and a peer
    /// that sends ever new names would slow the stream down for good.
    private func renewIfDue() {
        guard
            isSwollen || sax.dictionaryCount > Self.maximumDictionaryNames
                || sax.dictionaryBytes > Self.maximumDictionaryBytes
        else { return }
        renew()
    }

    /// Starts a fresh libxml2 context, which knows of nothing but the root.
    func renew() {
        isSwollen = false
        renewals += 1
        sax = SAXContext()
        header.withUnsafeBufferPointer(sax.parse)
        _ = sax.takeEvents()
        if sax.depth != 1 { failure = sax.failure ?? .notWellFormed("the stream header cannot be read again") }
    }
}
