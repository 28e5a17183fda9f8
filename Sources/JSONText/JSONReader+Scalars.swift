// SPDX-License-Identifier: Apache-2.0

extension JSONReader {
    /// Reads a string, from its opening quote to its closing one.
    mutating func string() throws(JSONError) -> String {
        let start = position
        let quote = bytes[position]
        position += 1
        var text: [UInt8] = []
        while let byte = next {
            position += 1
            switch byte {
            case quote:
                guard let string = String(validating: text, as: UTF8.self) else {
                    throw error("the string is not UTF-8", at: start)
                }
                return string
            case UInt8(ascii: "\\"):
                try escape(into: &text)
            case 0..<0x20 where !(isJSON5 && byte == UInt8(ascii: "\t")):
                throw error("a control character in a string must be escaped", at: position - 1)
            default:
                text.append(byte)
            }
        }
        throw error("the string has no end", at: start)
    }

    private mutating func escape(into text: inout [UInt8]) throws(JSONError) {
        guard let byte = next else { throw error("the text ends in an escape") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): text.append(contentsOf: String(try escapedScalar()).utf8)
        case UInt8(ascii: "'") where isJSON5: text.append(byte)
        case UInt8(ascii: "\n") where isJSON5: break
        case UInt8(ascii: "x") where isJSON5:
            guard let scalar = Unicode.Scalar(UInt32(try hexadecimal(digits: 2))) else { throw error("bad escape") }
            text.append(contentsOf: String(scalar).utf8)
        default: throw error("unknown escape", at: position - 2)
        }
    }

    /// Reads the digits of `\uXXXX`, and the second half of a surrogate pair.
    private mutating func escapedScalar() throws(JSONError) -> Unicode.Scalar {
        let start = position
        let first = UInt32(try hexadecimal(digits: 4))
        if let scalar = Unicode.Scalar(first) { return scalar }
        // RFC 8259 §8.2: half a pair is no text; what it becomes differs between readers.
        guard first < 0xDC00, take(word: "\\u") else { throw error("half a surrogate pair", at: start) }
        let second = UInt32(try hexadecimal(digits: 4))
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
        else { throw error("half a surrogate pair", at: start) }
        return scalar
    }

    private mutating func hexadecimal(digits: Int) throws(JSONError) -> UInt16 {
        var value: UInt16 = 0
        for _ in 0..<digits {
            guard let digit = next.flatMap({ Character(Unicode.Scalar($0)).hexDigitValue }) else {
                throw error("hexadecimal digit expected")
            }
            position += 1
            value = value << 4 | UInt16(digit)
        }
        return value
    }

    /// Reads a number.
    mutating func number() throws(JSONError) -> JSONValue {
        let start = position
        if isJSON5, let value = try hexadecimalNumber() { return value }
        if isJSON5 { _ = take(UInt8(ascii: "+")) }
        let textStart = position
        _ = take(UInt8(ascii: "-"))
        let integerStart = position
        let whole = takeDigits()
        if whole > 1 && bytes[integerStart] == UInt8(ascii: "0") { throw error("a number begins with zero", at: start) }
        var isInteger = true
        var fraction = 0
        if take(UInt8(ascii: ".")) {
            isInteger = false
            fraction = takeDigits()
        }
        let isComplete = isJSON5 ? whole + fraction > 0 : whole > 0 && (isInteger || fraction > 0)
        guard isComplete else { throw error("a value expected", at: start) }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            isInteger = false
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            guard takeDigits() > 0 else { throw error("an exponent without digits", at: start) }
        }
        let text = String(decoding: bytes[textStart..<position], as: UTF8.self)
        if isInteger, let integer = Int64(text) { return .integer(integer) }
        guard let double = Double(text), double.isFinite else {
            throw error("a number out of range", at: start)
        }
        return .number(double)
    }

    private mutating func hexadecimalNumber() throws(JSONError) -> JSONValue? {
        guard take(word: "0x") || take(word: "0X") else { return nil }
        let start = position
        while let byte = next, Character(Unicode.Scalar(byte)).isHexDigit { position += 1 }
        guard let value = Int64(String(decoding: bytes[start..<position], as: UTF8.self), radix: 16) else {
            throw error("a hexadecimal number out of range", at: start)
        }
        return .integer(value)
    }

    private mutating func takeDigits() -> Int {
        let start = position
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        return position - start
    }
}
