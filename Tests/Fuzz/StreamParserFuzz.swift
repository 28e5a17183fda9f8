// SPDX-License-Identifier: Apache-2.0

/// Entry point of libFuzzer for the stream parser; `Tests/Fuzz/run stream-parser` builds and runs it.
///
/// Any bytes: the events and the error are the same however the bytes are cut, nothing traps, and each element that
/// arrives can be written and read back equal.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzStreamParser(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: count))
    let whole = parse(bytes, chunk: max(1, count), .batch)
    for chunk in [1, 3, 17] {
        precondition(whole == parse(bytes, chunk: chunk, .batch), "chunks of \(chunk) differ")
    }
    precondition(whole == parse(bytes, chunk: max(1, count), .oneEvent), "event by event differs")
    for case .element(let element) in whole.events {
        do {
            let written = try XMLSerializer.serialize(element, defaultNamespace: "jabber:client", isInStream: true)
            let read = try Element.parse(written)
            precondition(read == element, "read back otherwise: \(element)")
        } catch {
            preconditionFailure("cannot be written and read back: \(element): \(error)")
        }
    }
    return 0
}

/// Feeds the bytes in chunks; `consumed` of the result is not used. Limits are small, so that they are met.
private func parse(_ bytes: [UInt8], chunk: Int, _ mode: XMLStreamParser.Mode) -> XMLStreamParser.Outcome {
    let parser = XMLStreamParser(
        limits: XMLLimits(
            maximumStanzaBytes: 600, maximumDepth: 8, maximumAttributes: 6, maximumElements: 12, maximumNameBytes: 40))
    var result = XMLStreamParser.Outcome()
    var position = 0
    while position < bytes.count && result.error == nil {
        let end = min(bytes.count, position + chunk)
        let outcome = parser.feed(bytes[position..<end], mode)
        result.events += outcome.events
        result.error = outcome.error
        precondition(outcome.error != nil || outcome.consumed > 0, "nothing taken")
        precondition(outcome.error != nil || mode == .oneEvent || outcome.consumed == end - position, "bytes left over")
        position += outcome.consumed
    }
    return result
}
