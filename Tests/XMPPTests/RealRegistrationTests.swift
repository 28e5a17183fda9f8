// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import XMPP
import XMPPTestSupport

@Suite("Accounts on real servers (XEP-0077, XEP-0158, XEP-0401, XEP-0445)", .serialized, .timeLimit(.minutes(5)))
struct RealRegistrationTests {
    /// A configuration with which somebody comes who has no account.
    private func visitor(_ server: PrivateServer) throws -> XMPPConfiguration {
        try server.configuration(for: "juliet")
    }

    private func session(
        _ server: PrivateServer, _ name: String, _ password: String, _ body: (XMPPStream) async throws -> Void
    ) async throws {
        let stream = XMPPStream(try server.configuration(for: name, password: password))
        try await stream.connect()
        do {
            try await body(stream)
        } catch {
            await stream.disconnect()
            throw error
        }
        await stream.disconnect()
    }

    private static let servers = ServerKind.expected + ServerKind.newer.filter(\.isExpected)

    @Test("an account is made, has another password, and is removed", arguments: servers)
    func whole(kind: ServerKind) async throws {
        let server = try await kind.start(accounts: ["juliet": "balcony"], registration: .open)
        let romeo = ["username": ["romeo"], "password": ["orchard"]]
        try await register(with: try visitor(server), romeo)
        #expect(await refusal { try await register(with: try visitor(server), romeo) } == .conflict)
        try await session(server, "romeo", "orchard") { stream in try await stream.changePassword(to: "garden") }
        await #expect { try await session(server, "romeo", "orchard") { _ in } } throws: {
            ($0 as? XMPPError)?.code == .authenticationRefused
        }
        try await session(server, "romeo", "garden") { stream in try await stream.removeAccount() }
        await #expect { try await session(server, "romeo", "garden") { _ in } } throws: {
            ($0 as? XMPPError)?.code == .authenticationRefused
        }
        await server.stop()
    }

    @Test("a server that registers nobody is asked nothing", arguments: servers)
    func closed(kind: ServerKind) async throws {
        let server = try await kind.start(accounts: ["juliet": "balcony"])
        let met = await refusal {
            try await register(with: try visitor(server), ["username": ["romeo"], "password": ["x"]])
        }
        #expect(met == .serviceUnavailable)
        await server.stop()
    }

    @Test(
        "invitations of Prosody's lead to a contact and to accounts, once",
        arguments: [ServerKind.prosody, .prosody13].filter(\.isExpected))
    func invitations(kind: ServerKind) async throws {
        let server = try await kind.start(
            accounts: ["juliet": "balcony", "tybalt": "sword"], areFriends: false, registration: .open)
        var links: [InvitationLink] = []
        try await session(server, "juliet", "balcony") { stream in
            links.append(try await stream.createInvitation())
            links.append(try await stream.createAccountInvitation())
        }
        guard case .contact(let inviter, _, let token?, mayRegister: true)? = Invitation(links[0].uri),
            case .account(server.domain, nil, let other?)? = Invitation(links[1].uri)
        else {
            Issue.record("\(links)")
            return
        }
        #expect(inviter.localpart == "juliet" && links.allSatisfy { $0.expiry != nil })
        try await register(
            with: try visitor(server), ["username": ["romeo"], "password": ["orchard"]], invitation: token)
        let nurse = ["username": ["nurse"], "password": ["x"]]
        #expect(
            await refusal { try await register(with: try visitor(server), nurse, invitation: token) } == .forbidden,
            "used")
        try await register(with: try visitor(server), nurse, invitation: other)
        // The server has made the two contacts (XEP-0401 §4.5).
        try await session(server, "romeo", "orchard") { stream in
            let update = try await stream.requestRoster()
            guard case .received(let items, _) = update else { return }
            #expect(items.map(\.jid) == [inviter] && items.first?.subscription == .both)
        }
        // And lets in who comes with a token of their own (XEP-0379 §3.4); that this one was approved as well, Prosody
        // 0.12 does not tell them.
        try await session(server, "juliet", "balcony") { stream in links.append(try await stream.createInvitation()) }
        let third = links[2].uri["preauth"].flatMap { InvitationToken($0) }
        let tape = EventTape()
        var configuration = try server.configuration(for: "tybalt")
        configuration.observer = StreamObserver(event: { tape.note($0) })
        try await XMPPStream.withSession(configuration) { stream in
            try await stream.goOnline()
            try await stream.acceptInvitation(of: inviter, token: third)
            await tape.wait { events in
                events.contains {
                    guard case .roster(.changed(.updated(let item), _)) = $0 else { return false }
                    return item.jid == inviter && item.subscription.includesFrom
                }
            }
        }
        try await session(server, "juliet", "balcony") { stream in
            guard case .received(let items, _) = try await stream.requestRoster() else { return }
            #expect(items.first { $0.jid.localpart == "tybalt" }?.subscription == .both)
        }
        await server.stop()
    }

    @Test(
        "a riddle of ejabberd's is shown, refused and solved",
        arguments: [ServerKind.ejabberd, .ejabberd24].filter(\.isExpected))
    func riddle(kind: ServerKind) async throws {
        let server = try await kind.start(accounts: ["juliet": "balcony"], registration: .riddle)
        let registration = try await AccountRegistration.begin(try visitor(server))
        for isRight in [false, true] {
            let form = try await registration.form()
            let media = try #require(form.questions["ocr"]?.media)
            #expect(form.data(of: media)?.bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) == true)
            let solution = try String(contentsOfFile: server.folderPath + "/riddle", encoding: .utf8)
            let answers = [
                "username": ["romeo"], "password": ["orchard"], "ocr": [isRight ? solution : "0"],
            ]
            let met = await refusal { try await registration.submit(try form.submission(answers)) }
            #expect((met == nil) == isRight, "\(met as Any)")
        }
        await registration.end()
        try await session(server, "romeo", "orchard") { _ in }
        await server.stop()
    }
}
