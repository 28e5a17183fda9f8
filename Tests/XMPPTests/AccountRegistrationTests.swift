// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPP
import XMPPCore
import XMPPTestSupport
import XMPPXML

@Suite("Accounts that are made, changed and removed in band (XEP-0077, XEP-0445)", .timeLimit(.minutes(5)))
struct AccountRegistrationTests {
    private static let oldForm: RegistrationForm = {
        var form = RegistrationForm()
        form.oldFields = [.init("username"), .init("password")]
        return form
    }()

    private static let newForm: RegistrationForm = {
        var form = RegistrationForm()
        form.form = DataForm(
            .form,
            fields: [
                .init("FORM_TYPE", .hidden, values: [RegistrationForm.namespace]),
                .init("username", isRequired: true), .init("password", .textPrivate, isRequired: true),
                .init("ocr", label: "Enter the text you see", isRequired: true),
            ])
        return form
    }()

    /// Runs a body with a server that has one account, juliet.
    private func run(
        _ change: (inout LoopbackOptions) -> Void = { $0.registration = Self.oldForm },
        _ body: (LoopbackServer) async throws -> Void
    ) async throws {
        var options = LoopbackOptions()
        change(&options)
        let server = try await LoopbackServer.start(
            domain: "example.org", accounts: ["juliet": "secret"], options: options)
        do {
            try await body(server)
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    private func canLogIn(_ name: String, _ password: String, at server: LoopbackServer) async -> Bool {
        guard let configuration = try? await server.configuration(for: name, password: password) else { return false }
        let stream = XMPPStream(configuration)
        let isIn = (try? await stream.connect()) != nil
        await stream.disconnect()
        return isIn
    }

    private static let romeo = ["username": ["romeo"], "password": ["orchard"]]

    @Test("an account is made without a login, with the fields of old and with a form, and can log in")
    func registering() async throws {
        try await run { server in
            try await register(with: server.visitorConfiguration, Self.romeo)
            #expect(await canLogIn("romeo", "orchard", at: server))
            let sent = await server.transcript.filter { $0.direction == .fromClient }.map(\.element)
            #expect(sent.contains { $0.localName == "iq" })
        }
        try await run {
            $0.registration = Self.newForm
            $0.riddles = ["ocr": "7nHL3"]
        } _: { server in
            try await register(with: server.visitorConfiguration, Self.romeo.merging(["ocr": ["7nHL3"]]) { $1 })
            #expect(await canLogIn("romeo", "orchard", at: server))
        }
    }

    @Test("one connection takes several tries: a name that is taken, a wrong answer to a riddle, the right ones")
    func tries() async throws {
        try await run {
            $0.registration = Self.newForm
            $0.riddles = ["ocr": "7nHL3"]
        } _: { server in
            let registration = try await AccountRegistration.begin(server.visitorConfiguration)
            for (name, text, condition) in [
                ("juliet", "7nHL3", StanzaError.Condition.conflict), ("romeo", "7nHl3", .notAllowed),
                ("ro meo", "7nHL3", .notAcceptable), ("romeo", "7nHL3", nil),
            ] {
                let form = try await registration.form()
                let answers = ["username": [name], "password": ["orchard"], "ocr": [text]]
                let met = await refusal { try await registration.submit(try form.submission(answers)) }
                #expect(met == condition)
            }
            await registration.end()
            #expect(await canLogIn("romeo", "orchard", at: server))
            #expect(await canLogIn("juliet", "secret", at: server))
        }
    }

    @Test(
        "what a server has against it is told as it says",
        arguments: [
            StanzaError(.resourceConstraint, kind: .wait), StanzaError(.notAllowed, kind: .cancel),
            StanzaError(.forbidden, kind: .auth), StanzaError(.notAcceptable, kind: .modify, text: "too weak"),
        ])
    func refusals(error: StanzaError) async throws {
        try await run {
            $0.registration = Self.oldForm
            $0.registrationRefusal = error
        } _: { server in
            #expect(
                await refusal { try await register(with: server.visitorConfiguration, Self.romeo) } == error.condition)
            #expect(await !server.hasAccount("romeo"))
        }
    }

    @Test("a server that makes no accounts is asked nothing (XEP-0077 §8)")
    func unavailable() async throws {
        try await run({ _ in }) { server in
            #expect(
                await refusal { try await register(with: server.visitorConfiguration, Self.romeo) }
                    == .serviceUnavailable)
            let sent = await server.transcript.filter { $0.direction == .fromClient }.map(\.element)
            #expect(!sent.contains { $0.localName == "iq" })
        }
    }

    @Test("a server that makes accounts before TLS, or has no TLS, is told nothing without it (XEP-0077 §3.3)")
    func clear() async throws {
        try await run {
            $0.registration = Self.oldForm
            $0.registersInTheClear = true
        } _: { server in
            try await register(with: server.visitorConfiguration, Self.romeo)
            let records = await server.transcript
            let iq = try #require(records.firstIndex { $0.element.localName == "iq" })
            let proceed = try #require(records.firstIndex { $0.element.localName == "proceed" })
            #expect(proceed < iq, "behind TLS")
        }
        try await run {
            $0.registration = Self.oldForm
            $0.registersInTheClear = true
            $0.offersStartTLS = false
        } _: { server in
            await #expect { try await register(with: server.visitorConfiguration, Self.romeo) } throws: {
                ($0 as? XMPPError)?.code == .tlsUnavailable
            }
            let sent = await server.transcript.filter { $0.direction == .fromClient }.map(\.element)
            #expect(!sent.contains { $0.localName == "iq" })
            #expect(await !server.hasAccount("romeo"))
        }
        try await run {
            $0.registration = Self.oldForm
            $0.certificateFlaw = .expired
        } _: { server in
            await #expect { try await register(with: server.visitorConfiguration, Self.romeo) } throws: {
                ($0 as? XMPPError)?.code == .certificateRejected
            }
        }
    }

    @Test("an invitation lets in once, in time, and under the name that it was made for (XEP-0445 §4)")
    func invitations() async throws {
        try await run {
            $0.registration = Self.oldForm
            $0.takesInvitations = true
            $0.registersInvitedOnly = true
        } _: { server in
            #expect(await refusal { try await register(with: server.visitorConfiguration, Self.romeo) } == .notAllowed)
            let token = try #require(try await server.invite()["preauth"].flatMap { InvitationToken($0) })
            try await register(with: server.visitorConfiguration, Self.romeo, invitation: token)
            #expect(await server.hasAccount("romeo"))
            let nurse = ["username": ["nurse"], "password": ["x"]]
            #expect(
                await refusal { try await register(with: server.visitorConfiguration, nurse, invitation: token) }
                    == .itemNotFound, "used")
            let late = try #require(try await server.invite(isExpired: true)["preauth"].flatMap { InvitationToken($0) })
            #expect(
                await refusal { try await register(with: server.visitorConfiguration, nurse, invitation: late) }
                    == .itemNotFound)
            let named = try #require(try await server.invite("tybalt")["preauth"].flatMap { InvitationToken($0) })
            #expect(
                await refusal { try await register(with: server.visitorConfiguration, nurse, invitation: named) }
                    == .notAllowed)
            // What failed has used nothing up.
            try await register(
                with: server.visitorConfiguration, ["username": ["tybalt"], "password": ["x"]], invitation: named)
        }
    }

    @Test("a token is shown to no server that says nothing of invitations (XEP-0445 §3)")
    func tokensStay() async throws {
        try await run { server in
            let token = InvitationToken("TOKEN")
            let met = await refusal {
                try await register(with: server.visitorConfiguration, Self.romeo, invitation: token)
            }
            #expect(met == .serviceUnavailable)
            #expect(await !server.transcript.contains { $0.element.description.contains("TOKEN") })
        }
    }

    @Test(
        "an account gets another password and is removed, and the end of its stream is the answer (XEP-0077 §3.2, §3.3)"
    )
    func ownAccount() async throws {
        try await run { server in
            try await XMPPStream.withSession(try await server.configuration(for: "juliet")) { stream in
                try await stream.changePassword(to: "balcony")
                await #expect { try await stream.changePassword(to: "") } throws: {
                    ($0 as? XMPPError)?.code == .invalidStanza
                }
            }
            #expect(await !canLogIn("juliet", "secret", at: server))
            #expect(await canLogIn("juliet", "balcony", at: server))
            try await XMPPStream.withSession(try await server.configuration(for: "juliet")) { stream in
                let form = try await stream.registrationForm(of: server.domain)
                #expect(form.isRegistered && form.oldFields.first == .init("username", "juliet"))
                try await stream.removeAccount()
            }
            #expect(await !server.hasAccount("juliet"))
        }
    }

    @Test("a server that wants to know more first says so with its error, and gets it (XEP-0077 §3.2, §3.3)")
    func formsWithErrors() async throws {
        let form =
            "<query xmlns='jabber:iq:register'><x xmlns='jabber:x:data' type='form'><field var='FORM_TYPE' type='hidden'>"
            + "<value>jabber:iq:register:changepassword</value></field><field var='old_password' type='text-private'>"
            + "<required/></field></x></query>"
        let scene = try await Scene(
            """
            #! prelude online
            #! await jabber:iq:register
            <iq type='error' id='{id}' from='example.org'>\(form)<error type='modify'><not-authorized xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
            #! await jabber:x:data
            <iq type='result' id='{id}' from='example.org'/>
            #! await remove
            <iq type='error' id='{id}'><query xmlns='jabber:iq:register'><username>juliet</username><password>echo</password><x xmlns='jabber:x:data' type='submit'/></query><error type='cancel'><not-allowed xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
            """
        ) { stream in
            var asked: DataForm?
            do {
                try await stream.changePassword(to: "new")
            } catch let error as XMPPError {
                #expect(error.stanzaError?.condition == .notAuthorized)
                asked = error.form
            }
            let filled = try #require(try asked?.filled(["old_password": ["secret"]]))
            #expect(asked?.type == "jabber:iq:register:changepassword")
            try await stream.register(filled, with: JID("example.org"))
            do {
                try await stream.removeAccount()
                Issue.record("removed")
            } catch let error as XMPPError {
                #expect(error.form == nil, "what was sent comes back, and asks for nothing")
                #expect(!"\(error)".contains("echo") && !String(reflecting: error).contains("echo"))
            }
        }
        await scene.close()
    }

    @Test("a server makes an invitation, for a contact and for an account, and both are good (XEP-0401)")
    func making() async throws {
        try await run {
            $0.registration = Self.oldForm
            $0.takesInvitations = true
            $0.registersInvitedOnly = true
            $0.makesInvitations = true
        } _: { server in
            var links: [InvitationLink] = []
            try await XMPPStream.withSession(try await server.configuration(for: "juliet")) { stream in
                links.append(try await stream.createInvitation())
                links.append(try await stream.createAccountInvitation(username: "tybalt", subscribes: true))
                let link = try await stream.createAccountInvitation()
                #expect(link.uri.jid == server.domain && link.uri.action == .register)
            }
            #expect(links.allSatisfy { $0.page?.hasPrefix("https://") == true && $0.expiry != nil })
            guard case .contact(let inviter, _, let token?, mayRegister: true)? = Invitation(links[0].uri),
                case .account(_, "tybalt", let other?)? = Invitation(links[1].uri)
            else {
                Issue.record("\(links)")
                return
            }
            #expect(inviter.localpart == "juliet")
            try await register(with: server.visitorConfiguration, Self.romeo, invitation: token)
            #expect(try await server.roster(of: "juliet").map(\.jid.localpart) == ["romeo"])
            try await register(
                with: server.visitorConfiguration, ["username": ["tybalt"], "password": ["x"]], invitation: other)
        }
    }

    @Test("a server that makes no invitations, or lets nothing be chosen, says so (XEP-0401 §5.1)")
    func notMaking() async throws {
        try await run { server in
            try await XMPPStream.withSession(try await server.configuration(for: "juliet")) { stream in
                #expect(await refusal { _ = try await stream.createInvitation() } == .serviceUnavailable)
            }
        }
    }

    @Test("who was invited asks with the token, is approved, and is asked in turn (XEP-0379 §3.3, §3.4)")
    func preAuthenticated() async throws {
        try await run {
            $0.offersPreApproval = true
        } _: { server in
            try await server.addAccount("romeo", password: "orchard")
            let token = try #require(InvitationToken("1tMFqYDdKhfe2pwp"))
            let tape = EventTape()
            var configuration = try await server.configuration(for: "juliet")
            configuration.observer = StreamObserver(event: { tape.note($0) })
            let juliet = XMPPStream(configuration)
            try await juliet.connect()
            try await juliet.goOnline()
            let romeo = XMPPStream(try await server.configuration(for: "romeo"))
            try await romeo.connect()
            try await romeo.goOnline()
            let inviter = try #require(await juliet.jid)
            #expect(try await romeo.acceptInvitation(of: inviter, name: "Juliet", token: token))
            let request = try #require(
                await tape.first { if case .subscriptionRequest(let presence) = $0 { presence } else { nil } })
            #expect(request.invitationToken == token && request.from?.localpart == "romeo")
            try await juliet.welcome(try #require(request.from))
            try await juliet.ping()
            try await romeo.ping()
            for (name, contact) in [("juliet", nil), ("romeo", "Juliet")] as [(String, String?)] {
                let roster = try await server.roster(of: name)
                #expect(roster.map(\.subscription) == [.both] && roster.first?.name == contact, "\(name)")
            }
            await juliet.disconnect()
            await romeo.disconnect()
        }
    }

    @Test("programs with access are listed, and lose it unless they know the password (XEP-0494)")
    func clients() async throws {
        try await run {
            $0.managesClients = true
        } _: { server in
            let known = [
                AccountClient("a", isConnected: true, authentication: ["password"], permission: .unrestricted),
                AccountClient("b", kind: .access, authentication: ["grant"], permission: .normal, software: "Rest"),
            ]
            try await server.setClients(known, of: "juliet")
            try await XMPPStream.withSession(try await server.configuration(for: "juliet")) { stream in
                #expect(try await stream.accountClients() == known)
                try await stream.revokeAccess(of: "b")
                #expect(try await stream.accountClients().map(\.id) == ["a"])
                #expect(await refusal { try await stream.revokeAccess(of: "b") } == .itemNotFound)
                await #expect { try await stream.revokeAccess(of: "a") } throws: {
                    ($0 as? XMPPError)?.needsNewPassword == true
                }
            }
        }
    }
}

@Suite("Answers before a login (RFC 6120 §8.1.2.1)", .timeLimit(.minutes(5)))
struct RegistrationAnswerTests {
    private static let offer =
        "<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' from='example.org' id='r1'"
        + " version='1.0'><stream:features><register xmlns='http://jabber.org/features/iq-register'/></stream:features>"
    private static let form = "<query xmlns='jabber:iq:register'><username/><password/></query>"

    /// What becomes of a request for the form, with this from the server.
    private func form(_ script: String) async throws -> Result<RegistrationForm, XMPPError> {
        let server = try ScriptedServer(usesTLS: false)
        async let played: Void = server.play(try StreamScript(text: script))
        let outcome: Result<RegistrationForm, XMPPError>
        do throws(XMPPError) {
            let registration = try await AccountRegistration.begin(server.configuration)
            outcome = .success(try await registration.form())
        } catch {
            outcome = .failure(error)
        }
        try await played
        return outcome
    }

    @Test("an answer with another id, or from somebody else, is none")
    func wrongAnswers() async throws {
        let outcome = try await form(
            """
            #! prelude tcp
            #! await stream:stream
            #! raw \(Self.offer)
            #! await jabber:iq:register
            <iq type='result' id='other' from='example.org'><query xmlns='jabber:iq:register'><email/></query></iq>
            <iq type='result' id='{id}' from='evil.example'><query xmlns='jabber:iq:register'><email/></query></iq>
            <iq type='result' id='{id}' from='example.org'>\(Self.form)</iq>
            """)
        #expect(try outcome.get().oldFields.map(\.name) == ["username", "password"])
    }
}
