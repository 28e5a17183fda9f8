// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import XMPPCore

@Suite("Addresses of the web (RFC 5122, XEP-0147)")
struct XMPPURITests {
    struct Row: Sendable, CustomTestStringConvertible {
        let text: String
        let account: String?
        let jid: String?
        let action: XMPPURI.Action?
        let parameters: [XMPPURI.Parameter]
        /// What is written of it, where that is something else.
        let written: String?

        init(
            _ text: String, _ jid: String?, as account: String? = nil, _ action: XMPPURI.Action? = nil,
            _ parameters: KeyValuePairs<String, String> = [:], written: String? = nil
        ) {
            self.text = text
            self.jid = jid
            self.account = account
            self.action = action
            self.parameters = parameters.map { .init($0.key, $0.value) }
            self.written = written
        }

        var testDescription: String { text }
    }

    static let rows = [
        // RFC 5122 §2.7 and §2.8.
        Row("xmpp:node@example.com", "node@example.com"),
        Row("xmpp://guest@example.com", nil, as: "guest@example.com"),
        Row(
            "xmpp://guest@example.com/support@example.com?message", "support@example.com", as: "guest@example.com",
            .message),
        Row("xmpp:support@example.com?message", "support@example.com", .message),
        Row("xmpp:example-node@example.com/some-resource", "example-node@example.com/some-resource"),
        Row(
            "xmpp:support@example.com?message;subject=Hello%20World", "support@example.com", .message,
            ["subject": "Hello World"]),
        Row(
            "xmpp:nasty!%23$%25()*+,-.;=%3F%5B%5C%5D%5E_%60%7B%7C%7D~node@example.com",
            "nasty!#$%()*+,-.;=?[\\]^_`{|}~node@example.com",
            written: "xmpp:nasty!%23$%25()*+,-.%3B%3D%3F%5B%5C%5D%5E_%60%7B%7C%7D~node@example.com"),
        Row("xmpp:ji%C5%99i@%C4%8Dechy.example/v%20Praze", "jiři@čechy.example/v Praze"),
        Row(
            "xmpp:jiři@čechy.example/v Praze", "jiři@čechy.example/v Praze",
            written: "xmpp:ji%C5%99i@%C4%8Dechy.example/v%20Praze"),
        // What is no part of it here: the page within it.
        Row("xmpp:example.com?register#form", "example.com", .register, written: "xmpp:example.com?register"),
        // XEP-0379 §3.1, XEP-0401 §4, XEP-0445 §2.
        Row(
            "xmpp:romeo@montague.net?roster;preauth=1tMFqYDdKhfe2pwp;name=Romeo+Montague", "romeo@montague.net",
            .roster, ["preauth": "1tMFqYDdKhfe2pwp", "name": "Romeo+Montague"]),
        Row(
            "xmpp:inviter@example.com?roster;preauth=TOKEN;ibr=y", "inviter@example.com", .roster,
            ["preauth": "TOKEN", "ibr": "y"]),
        Row("xmpp:juliet@example.com?register;preauth=TOKEN", "juliet@example.com", .register, ["preauth": "TOKEN"]),
        // Odd, and readable all the same.
        Row("XMPP:example.com", "example.com", written: "xmpp:example.com"),
        Row("xmpp:[::1]?join", "[::1]", .join),
        Row("xmpp:a@example.com?", "a@example.com", written: "xmpp:a@example.com"),
        Row("xmpp:a@example.com?;x=1", "a@example.com", nil, ["x": "1"]),
        Row(
            "xmpp:a@example.com?message;;body;x=;x=a=b", "a@example.com", .message, ["body": "", "x": "", "x": "a=b"],
            written: "xmpp:a@example.com?message;body=;x=;x=a%3Db"),
        Row(
            "xmpp:a@example.com?message;body=%3B%26%3d", "a@example.com", .message, ["body": ";&="],
            written: "xmpp:a@example.com?message;body=%3B%26%3D"),
        Row("xmpp:a@example.com/b/c@d", "a@example.com/b/c@d", written: "xmpp:a@example.com/b%2Fc%40d"),
        Row("xmpp:a@example.com/b?c", "a@example.com/b", XMPPURI.Action(rawValue: "c")),
    ]

    @Test("an address is read as what it says, and written so that it is read as the same", arguments: rows)
    func reading(row: Row) throws {
        let uri = try #require(XMPPURI(row.text))
        #expect(uri.jid?.description == row.jid)
        #expect(uri.account?.description == row.account)
        #expect(uri.action == row.action)
        #expect(uri.parameters == row.parameters)
        #expect(uri.description == row.written ?? row.text)
        #expect(XMPPURI(uri.description) == uri)
        #expect(uri["none"] == nil && uri[row.parameters.first?.key ?? "none"] == row.parameters.first?.value)
    }

    @Test(
        "what is no address, no JID, no text, or no escape is refused (RFC 5122 §2.2, RFC 3986 §2.1)",
        arguments: [
            "", "xmpp", "xmpp:", "xmpp:?message", "xmpp://", "xmpp:///a@b", "http://example.com", "mailto:a@b",
            "xmpp:@example.com", "xmpp:a@", "xmpp:a@b@c", "xmpp:a@example.com/", "xmpp:/x", "xmpp://a@b/c@",
            // A separator behind a percent sign is none.
            "xmpp:a%40b@c.example", "xmpp:a%2Fb@c.example", "xmpp:a%40c.example/%",
            "xmpp:a@b.example%2Fc", "xmpp://a@b%2Fc", "xmpp:a@b.example%3Fmessage",
            "xmpp:%", "xmpp:a@b?x;k=%", "xmpp:a@b?x;k=%4", "xmpp:a@b?x;k=%zz", "xmpp:a@b?x;k=%+1", "xmpp:a@b?%",
            "xmpp:a@b?x;=v",
            // No UTF-8, or nothing that XML can carry.
            "xmpp:a@b?register;preauth=%FF", "xmpp:a@b?register;preauth=%C0%80", "xmpp:a@b?x;k=%00",
            "xmpp:a@b?x;k=%1B", "xmpp:a@b?x;k=%7F", "xmpp:a@b?x;k=%EF%BF%BF", "xmpp:a@b?x;k=%ED%A0%80",
            "xmpp:a%00@b",
        ])
    func refused(text: String) {
        #expect(XMPPURI(text) == nil)
    }

    @Test("every byte behind a percent sign is read in every part or refused, and what is read is written back")
    func everyByte() {
        for byte in 0...255 {
            let digits = String(byte, radix: 16)
            let escape = "%" + (byte < 16 ? "0" : "") + digits
            for text in [
                "xmpp:a\(escape)@b", "xmpp:a@b\(escape)", "xmpp:a@b/c\(escape)", "xmpp://a\(escape)@b/c@d",
                "xmpp:a@b?c\(escape)", "xmpp:a@b?c;d\(escape)=e", "xmpp:a@b?c;d=\(escape)",
            ] {
                guard let uri = XMPPURI(text) else {
                    // ASCII that is no control character is a value.
                    #expect(!(0x20..<0x7F).contains(byte) || !text.hasSuffix("=\(escape)"), "\(text)")
                    continue
                }
                #expect(byte < 0x80 && XMPPURI(uri.description) == uri, "\(text)")
                if text.hasSuffix("=\(escape)") {
                    #expect(uri["d"]?.utf8.elementsEqual([UInt8(byte)]) == true, "\(text)")
                }
            }
        }
    }

    @Test("whatever separators stand where: it is refused, or written so that it is read as the same")
    func everyArrangement() {
        let symbols = ["a", "@", "/", "?", ";", "=", "#", "%41", "%40", "%", "é", ":"]
        var texts = [""]
        for _ in 0..<4 {
            texts = texts.flatMap { text in symbols.map { text + $0 } }
            for text in texts {
                guard let uri = XMPPURI("xmpp:" + text) else { continue }
                guard XMPPURI(uri.description) == uri else {
                    Issue.record("\(text) is written as \(uri)")
                    return
                }
            }
        }
    }

    @Test("limits count bytes and parameters, at the limit and one past it")
    func limits() {
        let head = "xmpp:a@b?c;d="
        let full = XMPPURI.maximumBytes - head.utf8.count
        #expect(XMPPURI(head + String(repeating: "x", count: full))?["d"]?.utf8.count == full)
        #expect(XMPPURI(head + String(repeating: "x", count: full + 1)) == nil)
        let many = String(repeating: ";k=v", count: XMPPURI.maximumParameters)
        #expect(XMPPURI("xmpp:a@b?c" + many)?.parameters.count == XMPPURI.maximumParameters)
        #expect(XMPPURI("xmpp:a@b?c" + many + ";k=v") == nil)
    }
}
