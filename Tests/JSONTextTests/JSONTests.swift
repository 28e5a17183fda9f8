// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import JSONText

@Suite("JSON")
struct JSONTests {
    @Test(
        "a document is written as it was read: order, numbers and text (RFC 8259)",
        arguments: [
            #"{"z":1,"a":[true,false,null],"m":{"y":-9223372036854775808,"b":1.5}}"#,
            #""é\u0000\u001f\u007f\u009f\" \\ \n\r\t 👩‍❤️‍👩 /""#,
            "[]", "{}", "0", "-1.5e-07", #""""#, "[[[[]]]]",
        ])
    func roundTrip(_ text: String) throws {
        #expect(try JSONReader.read(text.utf8).text == text)
    }

    @Test("every scalar survives in a string")
    func everyScalar() throws {
        var text = ""
        for number in 0...UInt32(0x10FFFF) {
            if let scalar = Unicode.Scalar(number), number < 0x3000 || number % 97 == 0 {
                text.unicodeScalars.append(scalar)
            }
        }
        let value = JSONValue.string(text)
        let encoded = value.encoded()
        #expect(!encoded.contains { $0 < 0x20 || $0 == 0x7F })
        #expect(try JSONReader.read(encoded) == value)
        #expect(try JSONReader.read(encoded).stringValue.map { Array($0.utf8) } == Array(text.utf8))
    }

    @Test(
        "what is not JSON is refused with its place",
        arguments: [
            ("", 1), ("{", 2), ("[1,]", 4), ("{\"a\":1,}", 8), ("{\"a\" 1}", 6), ("[1 2]", 4), ("01", 1), ("1.", 1),
            (".5", 1), ("+1", 1), ("-", 1), ("1e", 1), ("1e999", 1), ("nul", 1), ("\"a", 1), ("\"\\q\"", 2),
            ("\"\\ud800\"", 4), ("\"\\ud800\\u0041\"", 4), ("\"\\udc00\"", 4), ("\"\u{1}\"", 2), ("{a:1}", 2),
            ("1 2", 3), ("// x\n1", 1), ("'a'", 1), ("{\"a\":1,\"a\":2}", 1), ("NaN", 1), ("\"\\u00g0\"", 6),
        ])
    func refused(_ text: String, _ column: Int) {
        #expect { try JSONReader.read(text.utf8) } throws: { ($0 as? JSONError)?.column == column }
    }

    @Test(
        "text that is not UTF-8 is refused",
        arguments: [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0xC0, 0x80]] as [[UInt8]])
    func notUTF8(_ bytes: [UInt8]) {
        #expect(throws: JSONError.self) { try JSONReader.read([0x22] + bytes + [0x22]) }
    }

    @Test("nesting is read to 64 levels and refused one deeper")
    func depth() throws {
        func nested(_ levels: Int) -> [UInt8] {
            Array(String(repeating: "[", count: levels).utf8) + Array(String(repeating: "]", count: levels).utf8)
        }
        #expect(throws: Never.self) { try JSONReader.read(nested(JSONReader.maximumDepth)) }
        #expect(throws: JSONError.self) { try JSONReader.read(nested(JSONReader.maximumDepth + 1)) }
        #expect(throws: JSONError.self) { try JSONReader.read(String(repeating: "{\"a\":", count: 100_000).utf8) }
    }

    @Test("JSON5 as people write it is understood")
    func json5() throws {
        let text = """
            // the account at home
            {
              jid: 'me@example.org', /* no
              password here */
              "port": 0x1466, list: [1, 2,],
              half: .5, whole: 5., plus: +3, minus: -.5, text: 'it\\'s \\
            long\\x21',
            }
            """
        let value = try JSONReader.read(text.utf8, as: .json5)
        #expect(
            value == [
                "jid": "me@example.org", "port": 5222, "list": [1, 2], "half": 0.5, "whole": 5.0, "plus": 3,
                "minus": -0.5, "text": "it's long!",
            ])
    }

    @Test("a fault in JSON5 names line and column")
    func json5Place() {
        #expect { try JSONReader.read("{\n  a: 1\n  b: 2\n}".utf8, as: .json5) } throws: {
            "\($0)" == "line 3, column 3: \",\" or \"}\" expected"
        }
        #expect(throws: JSONError.self) { try JSONReader.read("/* open".utf8, as: .json5) }
        #expect(throws: JSONError.self) { try JSONReader.read("{,}".utf8, as: .json5) }
    }

    @Test("no bytes make the reader trap")
    func garbage() {
        var generator = SystemRandomNumberGenerator()
        let alphabet = Array("{}[]\",:\\ud8tfn01.eE+-/*'x \n\u{80}é".utf8)
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...24, using: &generator)).map { _ in
                alphabet.randomElement(using: &generator) ?? 0
            }
            _ = try? JSONReader.read(bytes)
            _ = try? JSONReader.read(bytes, as: .json5)
        }
    }

    @Test("an object keeps the place of a key that is set again")
    func order() {
        var object: JSONObject = ["a": 1, "b": 2]
        object["a"] = 3
        object["c"] = 4
        object["b"] = nil
        #expect(object.keys == ["a", "c"])
        #expect(JSONObject(present: ["a": nil, "b": 1]).keys == ["b"])
        let nested: JSONObject = ["a": ["b": ["c": 1]], "x.y": 2]
        #expect(nested.value(at: "a.b.c") == 1 && nested.value(at: "x.y") == 2 && nested.value(at: "a.z") == nil)
    }
}
