// SPDX-License-Identifier: Apache-2.0

/// Entry point of libFuzzer for the control protocol and its JSON; `Tests/Fuzz/run control-frame` builds and runs it.
///
/// Any bytes: nothing traps, lines do not depend on how the bytes are cut, and whatever is read can be written and read back
/// equal.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzControlFrame(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: count))
    var whole = ControlLineReader()
    let lines = whole.feed(bytes).lines
    var byByte = ControlLineReader()
    precondition(bytes.flatMap { byByte.feed([$0]).lines } == lines, "lines differ byte by byte")
    for line in lines {
        guard let message = try? ControlFrame.decode(line) else { continue }
        guard let written = try? ControlFrame.encode(message), let again = try? ControlFrame.decode(written) else {
            preconditionFailure("a message cannot be written and read back")
        }
        precondition(again == message, "a message is read back otherwise")
    }
    for dialect in [JSONReader.Dialect.strict, .json5] {
        guard let value = try? JSONReader.read(bytes, as: dialect) else { continue }
        for text in [value.encoded(), value.encodedPretty()] {
            let again = try? JSONReader.read(text)
            precondition(again == value, "a document is read back otherwise")
        }
    }
    return 0
}
