// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP

/// Answers the requests of one control connection.
struct MethodService: ControlService {
    let daemon: Daemon

    func respond(to request: ControlRequest, in control: ControlSession) async throws(ControlError) -> JSONValue {
        let parameters = Parameters(request.params)
        let selection = try SessionSelection(params: request.params)
        let limit = try parameters.patience()
        guard let method = Self.methods[request.method] else {
            throw ControlError(.unknownMethod, "there is no method \"\(request.method)\"")
        }
        let call = MethodCall(
            daemon: daemon, selection: selection, parameters: parameters, patience: limit,
            emit: { event in control.notify(.object(event), of: request.id) },
            room: { await control.waitForRoom() }, hasRoom: { control.hasRoom },
            whenAnswered: { action in await control.whenAnswered(request.id, action) })
        do throws(ControlError) {
            return .object(try await Race.run(within: limit) { () throws(ControlError) in try await method(call) })
        } catch {
            let error = call.delay.explained(error)
            // Its session is closed with the daemon: that is what the caller has to know.
            guard error.code == .notConnected || error.code == .cancelled, await daemon.isEnding else { throw error }
            throw ControlError(.daemonNotRunning, "the daemon is ending", account: error.account)
        }
    }

    /// Every method of the protocol but those that the tool does alone.
    static let methods: [String: @Sendable (MethodCall) async throws(ControlError) -> JSONObject] = [
        MethodTable.passwordMethod: SessionMethods.password,
        "status": StatusMethods.status,
        MethodTable.changePasswordMethod: OwnAccountMethods.changePassword,
        MethodTable.unregisterMethod: OwnAccountMethods.unregister,
        "account.forget-token": AccountMethods.forgetToken,
        "account.register": RegisterMethod.run,
        "account.invite": InvitationMethods.invite,
        "account.devices": OwnAccountMethods.devices,
        "account.revoke": OwnAccountMethods.revoke,
        "connect": ConnectionMethods.connect,
        "disconnect": ConnectionMethods.disconnect,
        "reconnect": ConnectionMethods.reconnect,
        "daemon.info": DaemonMethods.info,
        "daemon.reload": DaemonMethods.reload,
        "daemon.stop": DaemonMethods.stop,
        "daemon.restart": DaemonMethods.restart,
        "online": OnlineMethod.run,
        "send": SendMethod.run,
        "listen": ListenMethod.run,
        "ack": AckMethod.run,
        "history": HistoryMethods.history,
        "unread": HistoryMethods.unread,
        "read": HistoryMethods.read,
        "react": MessageMethods.react,
        "retract": MessageMethods.retract,
        "typing": MessageMethods.typing,
        "room.join": RoomMethods.join,
        "room.leave": RoomMethods.leave,
        "room.list": RoomMethods.list,
        "room.who": RoomMethods.who,
        "room.topic": RoomMethods.topic,
        "room.invite": RoomMethods.invite,
        "room.kick": RoomMethods.kick,
        "room.ban": RoomMethods.ban,
        "room.role": RoomMethods.role,
        "room.affiliation": RoomMethods.affiliation,
        "room.nick": RoomMethods.nick,
        "room.config": RoomMethods.config,
        "room.info": RoomMethods.info,
        "block.list": BlockMethods.list,
        "block.add": BlockMethods.add,
        "block.remove": BlockMethods.remove,
        "presence.show": PresenceMethods.show,
        "presence.set": PresenceMethods.set,
        "roster.list": RosterMethods.list,
        "roster.show": RosterMethods.show,
        "roster.add": RosterMethods.add,
        "roster.rename": RosterMethods.rename,
        "roster.group": RosterMethods.group,
        "roster.remove": RosterMethods.remove,
        "sub.request": SubscriptionMethods.request,
        "sub.accept": SubscriptionMethods.accept,
        "sub.deny": SubscriptionMethods.deny,
        "sub.cancel": SubscriptionMethods.cancel,
        "sub.pending": SubscriptionMethods.pending,
        "ping": QueryMethods.ping,
        "version-of": QueryMethods.version,
        "disco": QueryMethods.discover,
        "time": QueryMethods.time,
        "last": QueryMethods.last,
        "adhoc.list": AdHocMethods.list,
        "adhoc.run": AdHocMethods.run,
        "diag": DiagnosisMethod.run,
        "raw": RawMethod.run,
    ]
}

/// One request on its way through a method.
struct MethodCall: Sendable {
    let daemon: Daemon
    let selection: SessionSelection
    let parameters: Parameters
    /// How long the caller waits; `nil` for as long as it takes.
    let patience: Duration?
    /// Sends an event to the caller.
    let emit: @Sendable (JSONObject) -> Void
    /// Waits until the caller has read most of what was sent; `false` when the caller has gone.
    let room: @Sendable () async -> Bool
    /// Whether the caller takes what is sent as fast as it comes.
    let hasRoom: @Sendable () -> Bool
    /// Does something as soon as the caller was answered.
    let whenAnswered: @Sendable (@escaping @Sendable () -> Void) async -> Void
    /// What it waits for.
    let delay = Delay()

    /// The session that the request is for.
    var session: AccountSession {
        get async throws(ControlError) {
            let session = try await daemon.session(for: selection)
            delay.follow { session.progress.delay(at: session.jid.domainpart, account: session.name) }
            return session
        }
    }
}

extension AccountSession {
    /// The beginning of every result: output version and account.
    nonisolated var heading: JSONObject {
        ["api": .integer(Int64(ProductVersion.api.upperBound)), "account": .string(name)]
    }

    /// Runs a step of the library, with its failures told as the control protocol does.
    nonisolated func step<Value: Sendable>(
        _ body: () async throws(XMPPError) -> Value
    ) async throws(ControlError) -> Value {
        do {
            return try await body()
        } catch {
            throw ControlError(error, account: name)
        }
    }
}

/// Methods that concern the session itself.
enum SessionMethods {
    /// `session.password`: the password, or an access token, for later requests of the same session.
    static func password(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let token = try call.parameters.string("token")
        let password =
            if token == nil { try call.parameters.required("password") } else { try call.parameters.string("password") }
        try await call.session.take(password: password, token: token)
        return [:]
    }
}
