// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import JabberControl

@Suite("Control frames")
struct ControlFrameTests {
    static let messages: [ControlMessage] = [
        .request(ControlRequest(id: 1, method: "roster.add", params: ["jid": "é@example.org", "groups": ["a", "b"]])),
        .request(ControlRequest(id: .string("x"), method: "online")),
        .notification(.cancel(7)),
        .notification(.event(["type": "message", "body": "a\nb"], of: 3)),
        .response(ControlResponse(id: 1, result: .success(["api": 1]))),
        .response(ControlResponse(id: nil, result: .failure(ControlError(.badFrame, "no")))),
        .response(
            ControlResponse(
                id: 2,
                result: .failure(
                    ControlError(
                        .authRefused, "SCRAM-SHA-1 was refused", stanza: ["condition": "not-authorized"],
                        account: "me@example.org")))),
    ]

    @Test("a message is the same after the wire (JSON-RPC 2.0)", arguments: messages)
    func roundTrip(_ message: ControlMessage) throws {
        let line = try ControlFrame.encode(message)
        #expect(line.last == UInt8(ascii: "\n") && line.filter { $0 == UInt8(ascii: "\n") }.count == 1)
        #expect(try ControlFrame.decode(line) == message)
    }

    @Test("an error carries code, exit code and retry flag under data")
    func errorShape() throws {
        let message = ControlMessage.response(
            ControlResponse(id: 4, result: .failure(ControlError(.hostNotFound, "no such host"))))
        #expect(
            String(decoding: try ControlFrame.encode(message), as: UTF8.self)
                == #"{"jsonrpc":"2.0","id":4,"error":{"code":-32000,"message":"no such host","#
                + #""data":{"code":"host-not-found","exit":68,"retry":true}}}"# + "\n")
    }

    @Test(
        "a line that is no message is refused and says which request it was",
        arguments: [
            ("nonsense", nil), ("[]", nil), ("1", nil), ("{}", nil), (#"{"jsonrpc":"1.0","id":3,"method":"a"}"#, 3),
            (#"{"jsonrpc":"2.0","id":3,"method":5}"#, 3), (#"{"jsonrpc":"2.0","id":3,"method":"a","params":[1]}"#, 3),
            (#"{"jsonrpc":"2.0","id":null,"method":"a"}"#, nil), (#"{"jsonrpc":"2.0","id":1.5,"method":"a"}"#, nil),
            (#"{"jsonrpc":"2.0","id":3}"#, 3), (#"{"jsonrpc":"2.0","id":3,"result":1,"error":{}}"#, 3),
            (#"{"jsonrpc":"2.0","result":1}"#, nil), (#"[{"jsonrpc":"2.0","id":3,"method":"a"}]"#, nil),
        ] as [(String, ControlID?)])
    func refused(_ line: String, _ id: ControlID?) {
        #expect { try ControlFrame.decode(Array(line.utf8)) } throws: { ($0 as? ControlFrameError)?.id == id }
    }

    @Test("a strange error object becomes an internal error, never a success")
    func strangeError() throws {
        for text in [#"{"error":5}"#, #"{"error":{"data":{"exit":0}}}"#, #"{"error":{"data":{"exit":99999999999}}}"#] {
            let line = #"{"jsonrpc":"2.0","id":1,"# + text.dropFirst()
            guard case .response(let response) = try ControlFrame.decode(Array(line.utf8)),
                case .failure(let error) = response.result
            else {
                Issue.record("not a failure: \(line)")
                continue
            }
            #expect(error.exit == .internalError)
        }
    }

    @Test("lines are the same wherever the bytes are cut")
    func everyCut() throws {
        let lines = try Self.messages.map { try ControlFrame.encode($0) }
        let bytes = lines.flatMap { $0 } + [UInt8(ascii: "\n"), UInt8(ascii: "\n")]
        for cut in 0...bytes.count {
            var reader = ControlLineReader()
            let found = reader.feed(Array(bytes[..<cut])).lines + reader.feed(Array(bytes[cut...])).lines
            #expect(found == lines.map { $0.dropLast() })
        }
        var reader = ControlLineReader()
        #expect(bytes.flatMap { reader.feed([$0]).lines } == lines.map { $0.dropLast() })
    }

    @Test("a line of 1 MiB is read, one byte more ends the reading for good")
    func limit() {
        let longest = [UInt8](repeating: UInt8(ascii: "x"), count: ControlFrame.maximumBytes)
        var reader = ControlLineReader()
        #expect(reader.feed(longest).isTooLong == false)
        #expect(reader.feed([UInt8(ascii: "\n")]).lines == [longest])
        #expect(reader.feed(longest + [UInt8(ascii: "x")]).isTooLong)
        #expect(reader.feed(Array("\n{}\n".utf8)) == ([], true))
        var whole = ControlLineReader()
        #expect(whole.feed(Array("{}\n".utf8) + longest + Array("x\n{}\n".utf8)) == ([Array("{}".utf8)], true))
    }

    @Test("a message that does not fit a line is not written")
    func tooLongToWrite() {
        let text = JSONValue.string(String(repeating: "x", count: ControlFrame.maximumBytes))
        #expect(throws: ControlFrameError.tooLong) {
            try ControlFrame.encode(.response(ControlResponse(id: 1, result: .success(text))))
        }
    }

    @Test("every error code stands in the table once")
    func table() {
        let words = ControlErrorCode.table.map(\.code.rawValue)
        #expect(Set(words).count == words.count)
        #expect(ControlErrorCode.table.allSatisfy { row in ExitCode.all.contains { $0.code == row.exit } })
        #expect(ControlErrorCode(rawValue: "of-tomorrow").exit == .internalError)
        #expect(ControlErrorCode.authRefused.exit.rawValue == 77 && ControlErrorCode.permissions.exit.rawValue == 78)
        #expect(ControlErrorCode.certificate.exit.rawValue == 76 && ControlErrorCode.badJID.exit.rawValue == 65)
    }

    @Test("the greeting survives the wire, and a strange one is refused")
    func greeting() {
        let greeting = ControlGreeting(instance: "abc")
        #expect(ControlGreeting(greeting.notification) == greeting)
        var notification = greeting.notification
        notification.params["api"] = ["min": 3, "max": 1]
        #expect(ControlGreeting(notification) == nil)
        #expect(ControlGreeting(ControlNotification(method: "hi")) == nil)
    }
}

private func == (left: (lines: [[UInt8]], isTooLong: Bool), right: ([[UInt8]], Bool)) -> Bool {
    left.lines == right.0 && left.isTooLong == right.1
}
