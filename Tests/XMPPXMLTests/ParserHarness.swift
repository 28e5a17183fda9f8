// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import XMPPXML

/// Runs bytes through a parser in pieces and collects all that comes out.
struct ParserHarness {
    /// Events, and the error that ended parsing.
    struct Result: Equatable, CustomStringConvertible {
        var events: [XMLStreamEvent] = []
        var error: XMLStreamError?

        var description: String { "\(events.count) events, error \(error.map { "\($0)" } ?? "none"): \(events)" }

        /// The messages among the first-level elements.
        var messages: [Element] {
            elements.filter { $0.isNamed("message", namespace: "jabber:client") }
        }

        var elements: [Element] {
            events.compactMap { if case .element(let element) = $0 { element } else { nil } }
        }

        /// The stream error condition (RFC 6120 §4.9.3) that the error stands for.
        var condition: String? {
            switch error {
            case nil: nil
            case .notWellFormed: "not-well-formed"
            case .badFormat: "bad-format"
            case .restrictedXML: "restricted-xml"
            case .unsupportedEncoding: "unsupported-encoding"
            case .unsupportedVersion: "unsupported-version"
            case .limitExceeded: "policy-violation"
            }
        }
    }

    static let header =
        "<?xml version='1.0'?><stream:stream xmlns='jabber:client' "
        + "xmlns:stream='http://etherx.jabber.org/streams' from='example.net' id='s1' version='1.0'>"

    /// Feeds the pieces in batch mode.
    static func run(_ pieces: some Sequence<ArraySlice<UInt8>>, limits: XMLLimits = .session) -> Result {
        let parser = XMLStreamParser(limits: limits)
        var result = Result()
        for piece in pieces {
            let outcome = parser.feed(piece, .batch)
            result.events += outcome.events
            if let error = outcome.error {
                result.error = error
                break
            }
            if outcome.consumed != piece.count { result.error = .notWellFormed("harness: bytes left over") }
        }
        return result
    }

    /// Feeds everything at once.
    static func run(_ bytes: [UInt8], limits: XMLLimits = .session) -> Result {
        run([bytes[...]], limits: limits)
    }

    /// Feeds a text at once.
    static func run(_ text: String, limits: XMLLimits = .session) -> Result {
        run(Array(text.utf8), limits: limits)
    }

    /// Feeds chunks of `size` bytes.
    static func run(_ bytes: [UInt8], chunk size: Int, limits: XMLLimits = .session) -> Result {
        run(
            stride(from: 0, to: bytes.count, by: size).lazy.map { bytes[$0..<min($0 + size, bytes.count)] },
            limits: limits)
    }

    /// Feeds event by event, each time with all the bytes that are left.
    static func runEventByEvent(_ bytes: [UInt8], limits: XMLLimits = .session) -> Result {
        let parser = XMLStreamParser(limits: limits)
        var result = Result()
        var rest = bytes[...]
        while !rest.isEmpty, result.error == nil {
            let outcome = parser.feed(rest, .oneEvent)
            if outcome.events.count > 1 { result.error = .notWellFormed("harness: more than one event") }
            result.events += outcome.events
            result.error = result.error ?? outcome.error
            rest = rest.dropFirst(outcome.consumed)
        }
        return result
    }

    /// What differs from `expected` when the bytes are cut otherwise; empty when nothing does.
    static func differences(
        _ bytes: [UInt8], from expected: Result, everyCut: Bool = true, limits: XMLLimits = .session
    ) -> [String] {
        var found: [String] = []
        for size in [1, 2, 3, 7, 64, 1500] {
            let result = run(bytes, chunk: size, limits: limits)
            if result != expected { found.append("chunks of \(size): \(result)") }
        }
        let byEvent = runEventByEvent(bytes, limits: limits)
        if byEvent != expected { found.append("event by event: \(byEvent)") }
        guard everyCut else { return found }
        for cut in bytes.indices {
            let result = run([bytes[..<cut], bytes[cut...]], limits: limits)
            if result != expected { found.append("cut at \(cut): \(result)") }
        }
        return found
    }

    /// Files that tests read.
    static let vectors = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Vectors")
}
