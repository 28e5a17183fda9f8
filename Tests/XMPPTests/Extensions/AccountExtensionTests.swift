// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPCrypto

@testable import XMPP

private let register = "xmlns='jabber:iq:register'"
private let access = "xmlns='urn:xmpp:cam:0'"

private func oldForm(_ fields: [RegistrationForm.OldField], key: String? = nil) -> RegistrationForm {
    var form = RegistrationForm()
    form.oldFields = fields
    form.key = key
    return form
}

private let elsewhere: RegistrationForm = {
    var form = RegistrationForm()
    form.instructions = "To register, visit the page."
    form.page = OutOfBandData("https://example.org/register")
    return form
}()

private let riddle: RegistrationForm = {
    var form = RegistrationForm()
    form.form = DataForm(
        .form,
        fields: [
            .init("FORM_TYPE", .hidden, values: [RegistrationForm.namespace]),
            .init("challenge", .hidden, values: ["F3A6292C"]),
            .init(
                "ocr", label: "Enter the text you see",
                media: FieldMedia([.init("cid:sha1+f24@bob.xmpp.org", type: "image/png")], width: 290, height: 80)),
        ])
    form.enclosed = [EnclosedData("sha1+f24@bob.xmpp.org", type: "image/png", bytes: [1, 2, 3])]
    return form
}()

private let token = InvitationToken("1tMFqYDdKhfe2pwp") ?? { preconditionFailure("it is a token") }()

/// Rows of the extensions that accounts are made and kept with.
let accountRows = [
    PayloadRow(
        "XEP-0077 §3.1", oldForm([.init("username"), .init("password"), .init("email")]),
        "<query \(register)><username/><password/><email/></query>"),
    PayloadRow(
        "XEP-0077 §3.1",
        {
            var form = oldForm([.init("username", "juliet"), .init("password", "R0m30")])
            form.isRegistered = true
            return form
        }(), "<query \(register)><registered/><username>juliet</username><password>R0m30</password></query>"),
    PayloadRow(
        "XEP-0077 §4", elsewhere,
        "<query \(register)><instructions>To register, visit the page.</instructions><x xmlns='jabber:x:oob'>"
            + "<url>https://example.org/register</url></x></query>"),
    PayloadRow(
        "XEP-0077 §6", oldForm([.init("username")], key: "abc"),
        "<query \(register)><username/><key>abc</key></query>"),
    PayloadRow(
        "XEP-0158 §4", riddle,
        "<query \(register)><x xmlns='jabber:x:data' type='form'><field var='FORM_TYPE' type='hidden'>"
            + "<value>jabber:iq:register</value></field><field var='challenge' type='hidden'><value>F3A6292C</value>"
            + "</field><field var='ocr' label='Enter the text you see'><media xmlns='urn:xmpp:media-element'"
            + " height='80' width='290'><uri type='image/png'>cid:sha1+f24@bob.xmpp.org</uri></media></field></x>"
            + "<data xmlns='urn:xmpp:bob' cid='sha1+f24@bob.xmpp.org' type='image/png'>AQID</data></query>"),
    PayloadRow(
        "XEP-0221 §2", FieldMedia([.init("http://example.org/a.wav", type: "audio/x-wav")]),
        "<media xmlns='urn:xmpp:media-element'><uri type='audio/x-wav'>http://example.org/a.wav</uri></media>"),
    PayloadRow(
        "XEP-0231 §2.3", EnclosedData("sha1+8f3@bob.xmpp.org", type: "image/png", bytes: [0, 255]),
        "<data xmlns='urn:xmpp:bob' cid='sha1+8f3@bob.xmpp.org' type='image/png'>AP8=</data>", required: ["cid"]),
    PayloadRow(
        "XEP-0445 §4", token,
        "<preauth xmlns='urn:xmpp:pars:0' token='1tMFqYDdKhfe2pwp'/>", required: ["token"]),
    PayloadRow(
        "XEP-0494 §3.1",
        AccountClients([
            AccountClient(
                "zeiP41HLglIu", isConnected: true, firstSeen: DateTime("2023-04-06T14:26:08Z"),
                lastSeen: DateTime("2023-04-06T14:37:25Z"), authentication: ["password"], permission: .unrestricted,
                software: "Gajim", uri: "https://gajim.org/", device: "Juliet's laptop"),
            AccountClient(
                "HjEEr45_LQr", kind: .access, authentication: ["grant"], permission: .normal, software: "REST client"),
        ]),
        "<clients \(access)><client connected='true' id='zeiP41HLglIu' type='session'>"
            + "<first-seen>2023-04-06T14:26:08.000Z</first-seen><last-seen>2023-04-06T14:37:25.000Z</last-seen>"
            + "<auth><password/></auth><permission status='unrestricted'/><user-agent><software>Gajim</software>"
            + "<uri>https://gajim.org/</uri><device>Juliet's laptop</device></user-agent></client>"
            + "<client connected='false' id='HjEEr45_LQr' type='access'><auth><grant/></auth>"
            + "<permission status='normal'/><user-agent><software>REST client</software></user-agent></client></clients>"
    ),
]

@Suite("Forms for an account (XEP-0077, XEP-0158)")
struct RegistrationFormTests {
    private func read(_ content: String) throws -> RegistrationForm {
        try #require(RegistrationForm(try Element.parse("<query \(register)>\(content)</query>")))
    }

    private static let newForm =
        "<x xmlns='jabber:x:data' type='form'><field var='FORM_TYPE' type='hidden'><value>jabber:iq:register</value>"
        + "</field><field var='first'><required/></field></x>"

    @Test("a data form counts before fields of old, and those before an address (XEP-0077 §5)")
    func precedence() throws {
        let page = "<instructions>Visit</instructions><x xmlns='jabber:x:oob'><url>https://a.example/</url></x>"
        let all = try read("<username/><password/>" + Self.newForm + page)
        #expect(all.questions.fields.map(\.name) == ["FORM_TYPE", "first"] && !all.isElsewhere)
        let old = try read("<password/><username/>" + page)
        #expect(old.questions.fields.map(\.name) == ["username", "password"], "in the order in which people are asked")
        #expect(old.questions.fields.allSatisfy(\.isRequired) && !old.isElsewhere, "all of them (XEP-0077 §3.1)")
        #expect(old.questions.fields.last?.kind == .textPrivate)
        let none = try read(page)
        #expect(none.isElsewhere && none.page?.url == "https://a.example/" && none.instructions == "Visit")
        #expect(try !read("").isElsewhere && read("").questions.fields.isEmpty)
    }

    @Test("a form without a type, or with more fields than may be, is none, and the fields of old remain")
    func unreadable() throws {
        let fields = String(repeating: "<field var='a'/>", count: DataForm.maximumFields + 1)
        for form in [
            "<x xmlns='jabber:x:data'><field var='a'/></x>", "<x xmlns='jabber:x:data' type='submit'/>",
            "<x xmlns='jabber:x:data' type='form'>\(fields)</x>",
        ] {
            let read = try read("<username/>" + form)
            #expect(read.form == nil && read.hasUnreadableForm)
            #expect(read.questions.fields.map(\.name) == ["username"])
        }
        #expect(try !read("<username/>").hasUnreadableForm)
        // A field without a type is a line of text (XEP-0004 §3.2).
        #expect(
            try read("<x xmlns='jabber:x:data' type='form'><field var='a'/></x>").questions["a"]?.kind == .textSingle)
    }

    @Test("the answers go as they were asked for: a form or the fields of old, never both (XEP-0077 §4)")
    func submissions() throws {
        let old = try read("<username/><key>k1</key><password/>" + "<odd/>")
        let sent = try old.submission(["username": ["bill"], "password": ["Calliope"]])
        #expect(
            sent
                == (try Element.parse(
                    "<query \(register)><key>k1</key><username>bill</username><password>Calliope</password></query>")))
        let new = try read("<username/>" + Self.newForm).submission(["first": ["Juliet"]])
        #expect(
            new
                == (try Element.parse(
                    "<query \(register)><x xmlns='jabber:x:data' type='submit'><field var='FORM_TYPE' type='hidden'>"
                        + "<value>jabber:iq:register</value></field><field var='first'><value>Juliet</value></field></x>"
                        + "</query>")))
        #expect(throws: DataFormError.missing("password")) { try old.submission(["username": ["bill"]]) }
        #expect(throws: DataFormError.missing("password")) {
            try old.submission(["username": ["bill"], "password": [""]])
        }
        #expect(throws: DataFormError.unknownField("age")) { try old.submission(["age": ["14"]]) }
    }

    @Test("what a riddle shows is found among what came along, and what is no data is passed over (XEP-0231 §2)")
    func enclosures() throws {
        #expect(riddle.form?["ocr"]?.media.flatMap(riddle.data)?.bytes == [1, 2, 3])
        #expect(riddle.data(of: FieldMedia([.init("http://example.org/x", type: "")])) == nil)
        #expect(riddle.data(of: FieldMedia([.init("cid:other", type: "")])) == nil)
        for text in ["", "====", "é", "AQ"] {
            let data = try Element.parse("<data xmlns='urn:xmpp:bob' cid='c'>\(text)</data>")
            #expect(EnclosedData(data) == nil, "\(text)")
        }
        let split = try Element.parse("<data xmlns='urn:xmpp:bob' cid='c'>\n  AQ\n  ID\n</data>")
        #expect(EnclosedData(split)?.bytes == [1, 2, 3])
        for (count, isRead) in [(EnclosedData.maximumBytes, true), (EnclosedData.maximumBytes + 1, false)] {
            let data = EnclosedData("c", type: "", bytes: Array(repeating: 7, count: count)).element
            #expect((EnclosedData(data) != nil) == isRead)
        }
        let many = String(
            repeating: "<data xmlns='urn:xmpp:bob' cid='c'>AQID</data>", count: EnclosedData.maximumCount + 1)
        #expect(try read(many).enclosed.count == EnclosedData.maximumCount)
    }
}

/// A ledger that a test can look at while it changes.
private final class Book {
    private var ledger = InvitationLedger()

    var open: [InvitationLedger.Open] { ledger.open }

    func issue(
        at now: DateTime, for lifetime: Duration = InvitationLedger.usualLifetime, to invitee: JID? = nil
    ) -> InvitationLedger.Open? {
        ledger.issue(at: now, for: lifetime, to: invitee)
    }

    func redeem(_ token: InvitationToken?, by jid: JID, at now: DateTime) -> Bool {
        ledger.redeem(token, by: jid, at: now)
    }

    func expect(_ inviter: JID, at now: DateTime, for lifetime: Duration = InvitationLedger.usualLifetime) {
        ledger.expect(inviter, at: now, for: lifetime)
    }
}

@Suite("Invitations (XEP-0379, XEP-0401, XEP-0445)")
struct InvitationTests {
    private static let now = DateTime(millisecondsSinceEpoch: 1_800_000_000_000)
    private static func later(_ seconds: Int64) -> DateTime {
        DateTime(millisecondsSinceEpoch: now.millisecondsSinceEpoch + seconds * 1_000)
    }

    @Test("an address invites a contact, or to an account, or to nothing")
    func reading() throws {
        let token = try #require(InvitationToken("TOKEN"))
        let (romeo, domain) = (Somebody.address("romeo@example.com"), Somebody.address("example.com"))
        let rows: [(String, Invitation?)] = [
            (
                "xmpp:romeo@example.com?roster;preauth=TOKEN;ibr=y;name=Romeo",
                .contact(romeo, name: "Romeo", token: token, mayRegister: true)
            ),
            ("xmpp:romeo@example.com/x?roster", .contact(romeo, name: nil, token: nil, mayRegister: false)),
            ("xmpp:romeo@example.com?roster;ibr=y", .contact(romeo, name: nil, token: nil, mayRegister: false)),
            ("xmpp:romeo@example.com?subscribe", .contact(romeo, name: nil, token: nil, mayRegister: false)),
            (
                "xmpp:romeo@example.com?register;preauth=TOKEN",
                .account(domain: domain, username: "romeo", token: token)
            ),
            ("xmpp:example.com?register;preauth=TOKEN", .account(domain: domain, username: nil, token: token)),
            ("xmpp:example.com?roster;preauth=TOKEN", nil), ("xmpp:romeo@example.com?message", nil),
            ("xmpp:romeo@example.com", nil), ("xmpp://romeo@example.com?roster", nil),
        ]
        for (text, invitation) in rows {
            #expect(Invitation(try #require(XMPPURI(text))) == invitation, "\(text)")
        }
    }

    @Test(
        "a token that can be none is passed over, as if there were none (XEP-0379 §4.1)",
        arguments: ["", "%20", "a%20b", "%C3%A9", "a%0Ab", "%22%C2%A0", String(repeating: "x", count: 1_025)])
    func oddTokens(token: String) throws {
        let uri = try #require(XMPPURI("xmpp:romeo@example.com?roster;preauth=\(token);ibr=y"))
        #expect(Invitation.hasOddToken(uri))
        guard case .contact(_, nil, nil, mayRegister: false)? = Invitation(uri) else {
            Issue.record("\(String(describing: Invitation(uri)))")
            return
        }
    }

    @Test("a token is as long as its limit and no longer, and no description tells it")
    func tokens() throws {
        let longest = try #require(InvitationToken(String(repeating: "~", count: InvitationToken.maximumBytes)))
        #expect(InvitationToken(longest.text + "~") == nil && InvitationToken("é") == nil)
        #expect(!"\(longest) \(String(reflecting: longest))".contains("~"))
        let plain = try #require(XMPPURI("xmpp:romeo@example.com?roster;preauth=a%3Bb%25"))
        #expect(!Invitation.hasOddToken(plain) && plain["preauth"] == "a;b%")
        #expect(InvitationToken("a;b%")?.element["token"] == "a;b%")
    }

    @Test("an invitation is good once, in time, and for whom it was made (XEP-0379 §6.2)")
    func ledger() throws {
        let ledger = Book()
        let (romeo, nurse) = (Somebody.address("romeo@a.example"), Somebody.address("nurse@a.example/x"))
        let first = try #require(ledger.issue(at: Self.now, for: .seconds(60)))
        let second = try #require(ledger.issue(at: Self.now, for: .seconds(60), to: nurse))
        #expect(first.token != second.token && first.token.text.utf8.count >= 16, "80 bits at least (§6.1)")
        #expect(ledger.redeem(InvitationToken("other"), by: romeo, at: Self.now) == false)
        #expect(ledger.redeem(nil, by: romeo, at: Self.now) == false)
        #expect(ledger.redeem(second.token, by: romeo, at: Self.now) == false, "another one's")
        #expect(ledger.redeem(second.token, by: nurse, at: Self.now))
        #expect(ledger.redeem(first.token, by: romeo, at: Self.later(59)))
        #expect(ledger.redeem(first.token, by: romeo, at: Self.later(59)) == false, "used")
        let third = try #require(ledger.issue(at: Self.now, for: .seconds(60)))
        #expect(ledger.redeem(third.token, by: romeo, at: Self.later(60)) == false, "expired")
        #expect(ledger.open.isEmpty)
    }

    @Test("a ledger has limits: of open invitations, and of the time that one is good")
    func limits() throws {
        let ledger = Book()
        for _ in 0..<InvitationLedger.maximumOpen { #expect(ledger.issue(at: Self.now) != nil) }
        #expect(ledger.issue(at: Self.now) == nil)
        let week = try #require(ledger.open.first?.expiry)
        #expect(week == Self.later(7 * 86_400))
        let next = try #require(ledger.issue(at: week, for: .seconds(Int64.max)))
        #expect(next.expiry.millisecondsSinceEpoch - week.millisecondsSinceEpoch == 366 * 86_400_000)
        #expect(
            ledger.issue(at: week, for: .seconds(-5)).map {
                ledger.redeem($0.token, by: Somebody.address("a@b"), at: week)
            } == false)
    }

    @Test("whose invitation was accepted is let in once, without a token (XEP-0379 §3.5)")
    func expecting() {
        let ledger = Book()
        let romeo = Somebody.address("romeo@a.example/x")
        ledger.expect(romeo, at: Self.now)
        ledger.expect(romeo, at: Self.now)
        #expect(ledger.redeem(nil, by: Somebody.address("nurse@a.example"), at: Self.now) == false)
        #expect(ledger.redeem(nil, by: romeo.bare, at: Self.now))
        #expect(ledger.redeem(nil, by: romeo, at: Self.now) == false)
        ledger.expect(romeo, at: Self.now, for: .seconds(1))
        #expect(ledger.redeem(nil, by: romeo, at: Self.later(1)) == false)
    }

    @Test("what a server answers to the command is an invitation, or nothing is believed of it (XEP-0401 §4.1)")
    func links() throws {
        func form(_ fields: KeyValuePairs<String, String>) -> DataForm {
            DataForm(.result, fields: fields.map { .init($0.key, values: [$0.value]) })
        }
        let uri = "xmpp:inviter@example.com?roster;preauth=TOKEN;ibr=y"
        let link = try #require(
            InvitationLink(
                form(["uri": uri, "landing-url": "https://example.com/i/#T", "expire": "2017-11-06T02:56:15Z"])))
        #expect(link.uri.description == uri && link.page == "https://example.com/i/#T")
        #expect(link.expiry == DateTime("2017-11-06T02:56:15Z"))
        let bare = try #require(
            InvitationLink(form(["uri": uri, "landing-url": "http://example.com/", "expiry": "x"])))
        #expect(bare.page == nil && bare.expiry == nil)
        #expect(InvitationLink(form(["uri": uri, "expiry": "2017-11-06T02:56:15Z"]))?.expiry != nil, "§7.1")
        for odd in ["javascript:alert(1)", "xmpp:a@b?message;body=x", "xmpp:", ""] {
            #expect(InvitationLink(form(["uri": odd])) == nil, "\(odd)")
        }
    }
}

@Suite("Clients of an account (XEP-0494)")
struct AccountClientTests {
    @Test("what a server leaves out or makes up does no harm")
    func odd() throws {
        let read = try #require(
            AccountClients(
                try Element.parse(
                    "<clients \(access)><client/><client id=''/><client id='a' type='odd' connected='yes'>"
                        + "<first-seen>never</first-seen><auth><x xmlns='urn:x'/></auth><permission status='odd'/>"
                        + "</client><other id='b'/></clients>")))
        let client = try #require(read.clients.first)
        #expect(read.clients.count == 1 && client.id == "a" && client.kind == .access && !client.isConnected)
        #expect(client.firstSeen == nil && client.authentication == ["x"] && client.permission?.rawValue == "odd")
        let many = String(repeating: "<client id='a'/>", count: AccountClients.maximumClients + 1)
        let all = AccountClients(try Element.parse("<clients \(access)>\(many)</clients>"))
        #expect(all?.clients.count == AccountClients.maximumClients)
    }

    @Test("a program that knows the password keeps its access, and that is told apart (XEP-0494 §3.2)")
    func passwords() throws {
        let error = try Element.parse(
            "<error type='cancel'><service-unavailable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/>"
                + "<password-reset-required xmlns='urn:xmpp:cam:0'/></error>")
        #expect(XMPPError(StanzaError(error), from: nil).needsNewPassword)
        #expect(!XMPPError(StanzaError.serviceUnavailable, from: nil).needsNewPassword)
    }
}
