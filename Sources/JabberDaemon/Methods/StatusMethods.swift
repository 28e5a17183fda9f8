// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import JabberControl
internal import XMPP
internal import XMPPStorage

/// `status`: the daemon and its accounts.
enum StatusMethods {
    static func status(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        var result: JSONObject = [
            "api": .integer(Int64(ProductVersion.api.upperBound)), "daemon": .object(await daemon(call.daemon)),
        ]
        let book = await call.daemon.book
        let implicit = (try? book?.configuration.implicitAccount())?.name
        var accounts: [JSONObject] = []
        for (name, result) in book?.sessions.sorted(by: { $0.key < $1.key }) ?? [] {
            let jid = book?.jid(of: name)
            guard isWanted(name, jid, call.selection) else { continue }
            var account = JSONObject(present: ["name": .string(name), "jid": jid.map(JSONValue.string)])
            account["default"] = .bool(name == implicit)
            switch result {
            case .success(let session):
                account.merge(await session.statusDocument())
            case .failure(let error):
                account["connection"] = .string(SessionStatus.Phase.failed.rawValue)
                account["reason"] = reason(error)
            }
            accounts.append(account)
        }
        if let wanted = call.selection.account ?? call.selection.jid, accounts.isEmpty {
            throw ControlError(.accountNotFound, "the daemon has no account \"\(wanted)\"")
        }
        result["accounts"] = .array(accounts.map(JSONValue.object))
        if let warnings = book?.configuration.warnings, !warnings.isEmpty { result["warnings"] = .strings(warnings) }
        return result
    }

    private static func isWanted(_ name: String, _ jid: String?, _ selection: SessionSelection) -> Bool {
        guard let wanted = selection.account ?? selection.jid else { return true }
        return name == wanted || jid == wanted
    }

    /// What the daemon knows of itself.
    static func daemon(_ daemon: Daemon) async -> JSONObject {
        let office = await daemon.office
        return JSONObject(present: [
            "version": .string(ProductVersion.current), "instance": .string(daemon.instance),
            "pid": .integer(Int64(getpid())), "since": office.map { .string($0.since.description) },
            "socket": office.map { .string($0.socket) },
        ])
    }

    /// Why an account is not connected.
    static func reason(_ error: ControlError) -> JSONValue {
        ["code": .string(error.code.rawValue), "message": .string(error.message)]
    }
}

extension AccountSession {
    /// How the session stands, for `status`.
    func statusDocument() async -> JSONObject {
        guard let holding else { return [:] }
        let status = holding.status
        var document: JSONObject = [
            "connection": .string(status.phase.rawValue), "since": .string(status.since.description),
            "reconnects": .integer(Int64(holding.reconnects)),
        ]
        let trouble = store?.trouble.present.map { ControlError($0, account: name) }
        if let reason = status.reason ?? trouble { document["reason"] = StatusMethods.reason(reason) }
        if let next = status.retryAt { document["retryAt"] = .string(next.description) }
        if let counts = try? await store?.outbox.counts(of: jid) {
            document["queued"] = .integer(Int64(counts.waiting))
            document["uncertain"] = .integer(Int64(counts.uncertain))
        }
        document["unwritten"] = .integer(Int64(intake.count))
        document["counters"] = .object(meter.reading.json)
        guard status.phase == .connected, let stream else { return document }
        document.merge(await stream.overview())
        let presence = presenceSent
        document["show"] = .string(presence.map { ContactDocument.show(of: $0) } ?? "offline")
        if let text = presence?.status { document["status"] = .string(text) }
        return document
    }
}

extension TrafficMeter.Reading {
    /// The counters of `status`.
    fileprivate var json: JSONObject {
        func number(_ count: UInt64) -> JSONValue { .integer(Int64(clamping: count)) }
        var object: JSONObject = [
            "stanzasReceived": number(stanzasReceived), "stanzasSent": number(stanzasSent),
            "bytesReceived": number(bytesReceived), "bytesSent": number(bytesSent), "roundTrips": number(roundTrips),
        ]
        if let lastRoundTrip { object["roundTripMilliseconds"] = .number(lastRoundTrip.milliseconds) }
        return object
    }
}

extension XMPPStream {
    /// What `status` tells of a session, all in one turn: a stream that is flooded reads for a while before the next.
    fileprivate func overview() -> JSONObject {
        var document: JSONObject = [:]
        if let jid { document["session"] = .string(jid.description) }
        document.merge(securityDocument())
        document["contacts"] = .integer(Int64(contacts?.count ?? 0))
        document["online"] = .integer(Int64(buddies.count))
        return document
    }
}

/// `connect`, `disconnect` and `reconnect`: the connection of an account of a daemon that stays.
enum ConnectionMethods {
    static func connect(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let session = try await held(call)
        await session.hold()
        return try await connected(session)
    }

    static func disconnect(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let session = try await held(call)
        await session.release()
        return await document(session)
    }

    static func reconnect(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let session = try await held(call)
        await session.release()
        await session.hold()
        return try await connected(session)
    }

    private static func held(_ call: MethodCall) async throws(ControlError) -> AccountSession {
        var selection = call.selection
        if let name = try call.parameters.string("account") {
            selection.account = name
            selection.jid = nil
        }
        guard await call.daemon.book != nil else {
            throw ControlError(.daemonNotRunning, "this daemon serves one command only")
        }
        return try await call.daemon.session(for: selection)
    }

    private static func connected(_ session: AccountSession) async throws(ControlError) -> JSONObject {
        guard let status = await session.settledStatus(), status.phase == .connected else {
            // Says why.
            _ = try await session.heldStream()
            return await document(session)
        }
        return await document(session)
    }

    private static func document(_ session: AccountSession) async -> JSONObject {
        var document = session.heading
        document.merge(await session.statusDocument())
        return document
    }
}

/// `daemon …`: the daemon itself.
enum DaemonMethods {
    static func info(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        _ = try await office(call)
        return await document(call)
    }

    static func reload(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        try await office(call).reload()
        return await document(call)
    }

    static func stop(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        try await end(call, .stop)
    }

    static func restart(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        try await end(call, .restart)
    }

    private static func end(_ call: MethodCall, _ end: DaemonEnd) async throws(ControlError) -> JSONObject {
        let office = try await office(call)
        if end == .restart { try await call.daemon.checkSuccessor() }
        let document = await document(call)
        // The daemon's goodbye must not be faster than the answer.
        await call.whenAnswered { office.end(end) }
        return document
    }

    private static func office(_ call: MethodCall) async throws(ControlError) -> DaemonOffice {
        guard let office = await call.daemon.office else {
            throw ControlError(.daemonNotRunning, "this daemon serves one command only")
        }
        return office
    }

    private static func document(_ call: MethodCall) async -> JSONObject {
        var document: JSONObject = ["api": .integer(Int64(ProductVersion.api.upperBound))]
        document.merge(await StatusMethods.daemon(call.daemon))
        let book = await call.daemon.book
        document["accounts"] = .integer(Int64(book?.sessions.count ?? 0))
        if let warnings = book?.configuration.warnings, !warnings.isEmpty { document["warnings"] = .strings(warnings) }
        return document
    }
}
