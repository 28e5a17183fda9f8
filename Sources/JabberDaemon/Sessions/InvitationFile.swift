// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import SocketIO
internal import XMPP

/// The invitations of one configured account (XEP-0379), in a file that only the user can read: what is in it lets
/// people in.
actor InvitationFile {
    private let path: String

    /// Makes a keeper; nothing is read yet.
    init(_ files: AccountFiles) {
        path = files.invitations
    }

    /// Changes what is kept, while no other process does.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/temporary`` while another process does, and
    ///   ``ControlErrorCode/inputOutput``.
    func change<Result>(_ body: (inout InvitationLedger) -> Result) throws(ControlError) -> Result {
        guard let lock = StateLock.take(path + ".lock") else {
            throw ControlError(.temporary, "another program changes the invitations; try again")
        }
        defer { withExtendedLifetime(lock) {} }
        var ledger = Self.read(path)
        let before = ledger
        let result = body(&ledger)
        if ledger != before { try Self.write(ledger, to: path) }
        return result
    }

    /// What a file holds; nothing when there is none, or when others could have read or written it.
    private static func read(_ path: String) -> InvitationLedger {
        var ledger = InvitationLedger()
        guard let contents = try? PrivateFile.read(path),
            (try? PrivateFile.requireSecret(contents, at: path)) != nil,
            let object = try? JSONReader.read(contents.bytes).objectValue
        else { return ledger }
        let maximum = InvitationLedger.maximumOpen
        ledger.open = (object["open"]?.arrayValue ?? []).prefix(maximum).compactMap { value in
            guard let token = value["token"]?.stringValue.flatMap({ InvitationToken($0) }),
                let expiry = value["expiry"]?.stringValue.flatMap({ DateTime($0) })
            else { return nil }
            let invitee = value["invitee"]?.stringValue
            // Without the name it would be good for everybody.
            guard let invitee else { return .init(token, expiry: expiry) }
            return (try? JID(invitee)).map { .init(token, expiry: expiry, invitee: $0) }
        }
        ledger.expected = (object["expected"]?.arrayValue ?? []).prefix(maximum).compactMap { value in
            guard let inviter = value["inviter"]?.stringValue.flatMap({ try? JID($0) }),
                let expiry = value["expiry"]?.stringValue.flatMap({ DateTime($0) })
            else { return nil }
            return .init(inviter, expiry: expiry)
        }
        return ledger
    }

    private static func write(_ ledger: InvitationLedger, to path: String) throws(ControlError) {
        let object: JSONObject = [
            "open": .array(
                ledger.open.map { entry in
                    .object(
                        JSONObject(present: [
                            "token": .string(entry.token.text), "expiry": .string(entry.expiry.description),
                            "invitee": (entry.invitee?.description).map(JSONValue.string),
                        ]))
                }),
            "expected": .array(
                ledger.expected.map {
                    ["inviter": .string($0.inviter.description), "expiry": .string($0.expiry.description)]
                }),
        ]
        try PrivateFile.write(JSONValue.object(object).encodedPretty(), to: path)
    }
}

extension AccountSession {
    /// How many requests may wait to be looked at; further ones wait for their answer like any other.
    static let maximumWelcomes = 100

    /// Somebody asks to see the account's presence. Who was invited is found beside the stream.
    nonisolated func greet(_ request: Presence) {
        let isOneTooMany = welcomes.withLock { count in
            count += 1
            return count > Self.maximumWelcomes
        }
        guard invitations != nil, !isOneTooMany else { return welcomes.withLock { $0 -= 1 } }
        Task {
            await welcome(request)
            welcomes.withLock { $0 -= 1 }
        }
    }

    /// Somebody asks to see the account's presence: who was invited is let in (XEP-0379 §3.4).
    func welcome(_ request: Presence) async {
        guard let invitations, let jid = request.from?.bare, let stream else { return }
        let token = request.invitationToken
        guard (try? await invitations.change({ $0.redeem(token, by: jid, at: .now) })) == true else { return }
        do {
            try await stream.welcome(jid)
            await answered(jid)
            say("\(jid) was invited, and is a contact now")
        } catch {
            // It is good for the next try.
            _ = try? await invitations.change { $0.expect(jid, at: .now) }
        }
    }
}
