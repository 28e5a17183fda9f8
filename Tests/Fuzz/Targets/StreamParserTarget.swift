// SPDX-License-Identifier: Apache-2.0

@testable import XMPPXML

extension FuzzTarget {
    /// Any bytes: the events and the error are the same however the bytes are cut, and each element that arrives can be
    /// written and read back equal.
    static let streamParser = FuzzTarget(
        name: "stream-parser",
        seeds: { FuzzVectors.files(in: "hostile-streams") + FuzzVectors.column(1, of: "xml/utf8.tsv") }
    ) { bytes in
        let whole = try parse(bytes, chunk: max(1, bytes.count), .batch)
        for chunk in [1, 3, 17] {
            try require(whole == parse(bytes, chunk: chunk, .batch), "chunks of \(chunk) differ")
        }
        try require(whole == parse(bytes, chunk: max(1, bytes.count), .oneEvent), "event by event differs")
        for case .element(let element) in whole.events { try checkRoundTrip(element) }
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
        _ bytes: [UInt8], chunk: Int, _ mode: XMLStreamParser.Mode
    ) throws -> XMLStreamParser.Outcome {
        let parser = XMLStreamParser(
            limits: XMLLimits(
                maximumStanzaBytes: 600, maximumDepth: 8, maximumAttributes: 6, maximumElements: 12,
                maximumNameBytes: 40, maximumNamespaceBytes: 60))
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
