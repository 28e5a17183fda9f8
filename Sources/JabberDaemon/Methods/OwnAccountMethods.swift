// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP

/// What an account does with itself at its server: its programs (XEP-0494), its password and its end (XEP-0077).
enum OwnAccountMethods {
    /// `account devices`: the programs that have access.
    static func devices(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let session = try await call.named
        let stream = try await session.established()
        let clients = try await clients(session, stream)
        var result = session.heading
        result["devices"] = .array(clients.map { .object(document($0)) })
        return result
    }

    private static func clients(
        _ session: AccountSession, _ stream: XMPPStream
    ) async throws(ControlError) -> [AccountClient] {
        do throws(ControlError) {
            return try await session.step { () throws(XMPPError) in try await stream.accountClients() }
        } catch {
            throw Refusal.ofServer(
                error, session.jid.domain, "the list of the programs that have access (XEP-0494)",
                "jabberctl account passwd --at-server takes access away from all that know the password")
        }
    }

    private static func document(_ client: AccountClient) -> JSONObject {
        JSONObject(present: [
            "id": .string(client.id), "type": .string(client.kind.rawValue), "connected": .bool(client.isConnected),
            "software": client.software.map(JSONValue.string), "device": client.device.map(JSONValue.string),
            "uri": client.uri.map(JSONValue.string),
            "firstSeen": (client.firstSeen?.description).map(JSONValue.string),
            "lastSeen": (client.lastSeen?.description).map(JSONValue.string),
            "authentication": .strings(client.authentication),
            "permission": (client.permission?.rawValue).map(JSONValue.string),
        ])
    }

    /// `account revoke`: takes access away, of each or of none: what is not there is found before anything is done.
    static func revoke(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let ids = try call.parameters.strings("id")
        guard !ids.isEmpty else { throw call.parameters.wrong("id", "is missing or empty") }
        let session = try await call.session
        let stream = try await session.established()
        let clients = try await clients(session, stream)
        if let unknown = ids.first(where: { id in !clients.contains { $0.id == id } }) {
            throw ControlError(
                .notFound, "no program has the id \"\(unknown)\"; jabberctl account devices lists them",
                account: session.name)
        }
        for id in ids {
            do throws(XMPPError) {
                try await stream.revokeAccess(of: id)
            } catch {
                guard error.needsNewPassword else { throw ControlError(error, account: session.name) }
                var failure = ControlError(error, account: session.name)
                failure.message =
                    "\"\(id)\" knows the password; take its access away with: jabberctl account passwd --at-server"
                throw failure
            }
        }
        var result = session.heading
        result["revoked"] = .strings(ids)
        return result
    }

    /// `account.change-password`: another password at the server (XEP-0077 §3.3).
    static func changePassword(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let text = try call.parameters.required("password")
        let answers = try FormDocument.answers("field", in: call.parameters)
        let session = try await call.session
        let stream = try await session.established()
        let password = Password(text)
        let known = ["username": session.jid.description, "password": text]
        try await withForm(session, stream, answers, known, "the password was not changed") {
            () throws(XMPPError) in try await stream.changePassword(to: password)
        }
        await session.take(password: text)
        return session.heading
    }

    /// `account.unregister`: the end of an account at its server (XEP-0077 §3.2).
    static func unregister(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let answers = try FormDocument.answers("field", in: call.parameters)
        let session = try await call.session
        let stream = try await session.established()
        let known = ["username": session.jid.description]
        try await withForm(session, stream, answers, known, "the account was not removed") {
            () throws(XMPPError) in try await stream.removeAccount()
        }
        return session.heading
    }

    /// Does something that the server may want to know more for first.
    private static func withForm(
        _ session: AccountSession, _ stream: XMPPStream, _ answers: [String: [String]], _ known: [String: String],
        _ failure: String, _ body: () async throws(XMPPError) -> Void
    ) async throws(ControlError) {
        let form: DataForm
        do throws(XMPPError) {
            return try await body()
        } catch {
            guard let asked = error.form else {
                var refused = ControlError(error, account: session.name)
                if error.code == .stanzaError { refused.message = "\(failure): \(refused.message)" }
                throw refused
            }
            form = asked
        }
        var all = answers
        for (name, value) in known where form[name] != nil && all[name] == nil { all[name] = [value] }
        let filled: DataForm
        do throws(DataFormError) {
            filled = try form.filled(all.filter { form[$0.key] != nil })
        } catch {
            throw ControlError(
                .badData, "\(failure): the server wants to know more, and \(error); answer with --field NAME=VALUE",
                account: session.name)
        }
        do throws(XMPPError) {
            try await stream.register(filled, with: session.jid.domain)
        } catch {
            // The end of the stream is the answer where an account has ended.
            guard error.code == .streamError, error.streamError?.condition == .notAuthorized else {
                throw ControlError(error, account: session.name)
            }
        }
    }
}

extension MethodCall {
    /// The session of the account that the parameter `name` names, else the one that the request is for.
    var named: AccountSession {
        get async throws(ControlError) {
            guard let name = try parameters.string("name") else { return try await session }
            var selection = selection
            selection.account = name
            selection.jid = nil
            return try await daemon.session(for: selection)
        }
    }
}
