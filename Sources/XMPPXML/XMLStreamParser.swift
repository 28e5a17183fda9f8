// SPDX-License-Identifier: Apache-2.0

internal import CLibXML2

/// The parser of one XML stream.
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
        /// How many of the given bytes were taken.
        package var consumed: Int = 0
        /// Why parsing ended for good; `events` came before it.
        package var error: XMLStreamError?
    }

    /// The limits in force; may be changed between stanzas.
    package var limits: XMLLimits

    /// Makes a parser for a new stream.
    package init(limits: XMLLimits = .session) {
        self.limits = limits
    }

    /// Parses bytes.
    package func feed(_ bytes: ArraySlice<UInt8>, _ mode: Mode) -> Outcome {
        Outcome()
    }
}
