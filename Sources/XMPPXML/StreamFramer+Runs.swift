// SPDX-License-Identifier: Apache-2.0

/// Short cuts: what nearly all bytes of a stream are, many at a time. Each ends where byte by byte would have come to
/// as well, or declines and changes nothing.
extension StreamFramer {
    /// Takes a whole tag of the usual shape, of which the `<` is taken: ASCII names, one or more spaces before an
    /// attribute, no reference in a value, within every limit. Returns where the tag ends; `nil` when it has to be
    /// taken byte by byte.
    @inline(__always)
    mutating func wholeTag(
        _ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int, _ limits: XMLLimits
    ) -> Int? {
        guard start < end else { return nil }
        if bytes[start] == UInt8(ascii: "/") { return wholeEndTag(bytes, start + 1, end, limits) }
        return wholeStartTag(bytes, start, end, limits)
    }

    private mutating func wholeEndTag(
        _ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int, _ limits: XMLLimits
    ) -> Int? {
        let close = Self.endOfName(bytes, start, end, limits)
        guard depth > 0, close < end, close > start, bytes[close] == UInt8(ascii: ">") else { return nil }
        depth -= 1
        _ = endTag(at: close)
        return close + 1
    }

    private mutating func wholeStartTag(
        _ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int, _ limits: XMLLimits
    ) -> Int? {
        guard depth <= limits.maximumDepth, depth == 0 || elements < limits.maximumElements else { return nil }
        var index = Self.endOfName(bytes, start, end, limits)
        guard index > start else { return nil }
        var found = 0
        while index < end, bytes[index] == 0x20 {
            repeat { index += 1 } while index < end && bytes[index] == 0x20
            guard index < end, bytes[index] != UInt8(ascii: ">"), bytes[index] != UInt8(ascii: "/") else { break }
            guard found < limits.maximumAttributes else { return nil }
            found += 1
            let name = index
            let equals = Self.endOfName(bytes, index, end, limits)
            guard equals > index, equals + 1 < end, bytes[equals] == UInt8(ascii: "=") else { return nil }
            let quote = bytes[equals + 1]
            guard quote == UInt8(ascii: "'") || quote == UInt8(ascii: "\"") else { return nil }
            index = Self.endOfPlainRun(bytes, equals + 2, end, quote: quote)
            guard index < end, bytes[index] == quote else { return nil }
            if index - equals - 2 > limits.maximumNamespaceBytes, Self.isDeclaration(bytes[name..<equals]) {
                return nil
            }
            index += 1
        }
        guard index < end else { return nil }
        let isEmpty = bytes[index] == UInt8(ascii: "/")
        if isEmpty { index += 1 }
        guard index < end, bytes[index] == UInt8(ascii: ">") else { return nil }
        if depth > 0 { elements += 1 }
        attributes = found
        if !isEmpty { depth += 1 }
        _ = endTag(at: index)
        return index + 1
    }

    /// Whether an attribute of this name declares a namespace: `xmlns`, or `xmlns:` and a prefix (XML Names §3).
    private static func isDeclaration(_ name: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        var place = 0
        for byte in name.prefix(declarationStart.utf8CodeUnitCount) {
            guard isDeclaration(byte, at: place) else { return false }
            place += 1
        }
        return place >= declarationStart.utf8CodeUnitCount - 1
    }

    /// What the name of a declaration begins with; without the colon it is one too.
    static var declarationStart: StaticString { "xmlns:" }

    /// Whether a name that has this byte at a place may be that of a declaration.
    static func isDeclaration(_ byte: UInt8, at place: Int) -> Bool {
        place >= declarationStart.utf8CodeUnitCount || byte == declarationStart.utf8Start[place]
    }

    /// Where an ASCII name that begins at `start` ends; `start` when none does, or it is longer than allowed.
    @inline(__always)
    private static func endOfName(
        _ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int, _ limits: XMLLimits
    ) -> Int {
        guard start < end, bytes[start] < 0x80, isNameStart(bytes[start]) else { return start }
        var index = start + 1
        while index < end, bytes[index] < 0x80, isName(bytes[index]) { index += 1 }
        return index - start <= limits.maximumNameBytes ? index : start
    }

    /// Skips bytes that change nothing but a count: the middle of a text, of an attribute value or of a name.
    @inline(__always)
    mutating func endOfRun(
        _ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int, _ limits: XMLLimits
    ) -> Int {
        switch state {
        case .text:
            return Self.endOfPlainRun(bytes, start, end, quote: UInt8(ascii: "<"))
        case .value where isDeclaration:
            let length = min(end - start, max(limits.maximumNamespaceBytes - count, 0))
            let index = Self.endOfPlainRun(bytes, start, start + length, quote: quote)
            count += index - start
            return index
        case .value:
            return Self.endOfPlainRun(bytes, start, end, quote: quote)
        case .attributeName where count < Self.declarationStart.utf8CodeUnitCount:
            return start
        case .startName, .attributeName, .endName:
            // What is left of the name's limit bounds the run, so that one byte too many is met as any other byte.
            let length = min(end - start, max(limits.maximumNameBytes - count, 0))
            var index = start
            while index < start + length, bytes[index] < 0x80, Self.isName(bytes[index]) { index += 1 }
            count += index - start
            return index
        default:
            return start
        }
    }

    /// The first byte that is not plain text: a delimiter, a control character, a character that is broken or cut.
    @inline(__always)
    private static func endOfPlainRun(
        _ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int, quote: UInt8
    ) -> Int {
        var index = start
        while true {
            index = endOfASCIIRun(bytes, index, end, quote: quote)
            guard index < end, bytes[index] >= 0x80 else { return index }
            var character = UTF8Validator()
            var next = index
            repeat {
                guard next < end, (try? character.accept(bytes[next])) != nil else { return index }
                next += 1
            } while !character.isIdle
            index = next
        }
    }

    @inline(__always)
    private static func endOfASCIIRun(
        _ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int, quote: UInt8
    ) -> Int {
        var index = start
        // Eight bytes at a time: a byte is special if it is outside of 0x20...0x7F or equals one of the delimiters.
        while index + 8 <= end {
            let word = UnsafeRawBufferPointer(bytes).loadUnaligned(fromByteOffset: index, as: UInt64.self)
            let special =
                word | belowSpace(word) | zeroBytes(word ^ every(quote)) | zeroBytes(word ^ every(UInt8(ascii: "<")))
                | zeroBytes(word ^ every(UInt8(ascii: "&")))
            let marks = special & every(0x80)
            // The lowest mark is never false: only bytes above a special one may be marked without being special.
            guard marks == 0 else { return index + UInt64(littleEndian: marks).trailingZeroBitCount / 8 }
            index += 8
        }
        while index < end {
            let byte = bytes[index]
            guard
                byte >= 0x20 && byte < 0x80 && byte != quote && byte != UInt8(ascii: "<") && byte != UInt8(ascii: "&")
            else { break }
            index += 1
        }
        return index
    }

    /// The byte in each of a word's eight places.
    @inline(__always)
    private static func every(_ byte: UInt8) -> UInt64 { 0x0101_0101_0101_0101 &* UInt64(byte) }

    /// Sets the high bit of bytes that are zero, and perhaps of bytes above one that is.
    @inline(__always)
    private static func zeroBytes(_ word: UInt64) -> UInt64 { (word &- every(0x01)) & ~word }

    /// Sets the high bit of bytes below 0x20, and perhaps of bytes above one that is.
    @inline(__always)
    private static func belowSpace(_ word: UInt64) -> UInt64 { (word &- every(0x20)) & ~word }
}
