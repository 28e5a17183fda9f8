// SPDX-License-Identifier: Apache-2.0

@testable import XMPPXML

extension FuzzTarget {
    /// Any bytes: the events and the error are the same however the bytes are cut, and each element that arrives can be
    /// written and read back equal; with elements passed over that are past a limit, and without. Until the first of
    /// these both bring the same.
    static let streamParser = FuzzTarget(
        name: "stream-parser",
        seeds: { FuzzVectors.files(in: "hostile-streams") + FuzzVectors.column(1, of: "xml/utf8.tsv") }
    ) { bytes in
        let refusing = try checkChunking(bytes, passedOver: 0)
        let passing = try checkChunking(bytes, passedOver: 4_000)
        guard case .limitExceeded = refusing.error else {
            return try require(refusing == passing, "what is within the limits is read otherwise")
        }
        try require(passing.events.starts(with: refusing.events), "what came before the limit is read otherwise")
    }

    /// Reads the bytes, cut in several ways.
    private static func checkChunking(_ bytes: [UInt8], passedOver: Int) throws -> XMLStreamParser.Outcome {
        let whole = try parse(bytes, chunk: max(1, bytes.count), .batch, passedOver)
        for chunk in [1, 3, 17] {
            try require(whole == parse(bytes, chunk: chunk, .batch, passedOver), "chunks of \(chunk) differ")
        }
        try require(
            whole == parse(bytes, chunk: max(1, bytes.count), .oneEvent, passedOver), "event by event differs")
        for case .element(let element) in whole.events { try checkRoundTrip(element) }
        return whole
    }

    /// Whether an element is the same after it was written and read.
    static func checkRoundTrip(_ element: Element) throws {
        let written = try mustNotThrow("cannot be written: \(element)") {
            try XMLSerializer.serialize(element, defaultNamespace: "jabber:client", isInStream: true)
        }
        let read = try mustNotThrow("cannot be read back: \(element)") { try Element.parse(written) }
        try require(read == element, "read back otherwise: \(element)")
    }

    /// Feeds the bytes in chunks; `consumed` of the result is not used. Limits are small, so that they are met.
    private static func parse(
        _ bytes: [UInt8], chunk: Int, _ mode: XMLStreamParser.Mode, _ passedOver: Int
    ) throws -> XMLStreamParser.Outcome {
        var limits = XMLLimits(
            maximumStanzaBytes: 600, maximumDepth: 8, maximumAttributes: 6, maximumElements: 12, maximumNameBytes: 40,
            maximumNamespaceBytes: 60)
        limits.maximumPassedOverBytes = passedOver
        let parser = XMLStreamParser(limits: limits)
        var result = XMLStreamParser.Outcome()
        var position = 0
        while position < bytes.count && result.error == nil {
            let end = min(bytes.count, position + chunk)
            let outcome = parser.feed(bytes[position..<end], mode)
            result.events += outcome.events
            result.error = outcome.error
            guard outcome.error == nil else { break }
            try require(outcome.consumed > 0, "nothing taken")
            try require(mode == .oneEvent || outcome.consumed == end - position, "bytes left over")
            position += outcome.consumed
        }
        return result
    }
}
