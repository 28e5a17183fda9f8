// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP

/// `roster …`. The roster is asked for first, so that pushes tell what became of each change (RFC 6121 §2.1.6).
enum RosterMethods {
    /// How long a push may take after the change was confirmed.
    static let pushWindow: Duration = .seconds(1)

    static func list(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let group = try call.parameters.string("group")
        let session = try await call.session
        let stream = try await session.withRoster()
        let items = (await stream.contacts ?? []).filter { item in group.map(item.groups.contains) ?? true }
            .inDisplayOrder()
        var result = session.heading
        result["contacts"] = .array(items.map { .object(ContactDocument.contact($0)) })
        return result
    }

    static func show(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let jid = try call.parameters.requiredJID("jid").bare
        let session = try await call.session
        let stream = try await session.withRoster()
        let item = try await session.contact(jid, stream)
        _ = try await session.settled(.milliseconds(OnlineMethod.defaultSettle))
        var result = session.heading
        result["contact"] = .object(ContactDocument.contact(item, presence: await stream.buddy(jid)))
        return result
    }

    static func add(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let jid = try call.parameters.requiredJID("jid").bare
        let name = try call.parameters.string("name")
        let groups = try call.parameters.strings("group")
        let isSilent = try call.parameters.flag("noSubscribe")
        let session = try await call.session
        let stream = try await session.withRoster()
        let known = await stream.contact(jid)
        // Who is added again keeps what is not named anew.
        try await session.change(
            stream, jid, name: name ?? known?.name, groups: groups.isEmpty ? known?.groups ?? [] : groups)
        if !isSilent, known?.subscription.includesTo != true {
            try await session.step { () throws(XMPPError) in
                try await stream.requestSubscription(to: jid)
                try await stream.ping()
            }
            await session.waitForPush(stream, jid) { $0?.isAsking == true || $0?.subscription.includesTo == true }
        }
        return try await session.result(jid, stream)
    }

    static func rename(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let jid = try call.parameters.requiredJID("jid").bare
        guard let name = try call.parameters.string("name") else { throw call.parameters.wrong("name", "is missing") }
        let session = try await call.session
        let stream = try await session.withRoster()
        let item = try await session.contact(jid, stream)
        try await session.change(stream, jid, name: name.isEmpty ? nil : name, groups: item.groups)
        return try await session.result(jid, stream)
    }

    static func group(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let jid = try call.parameters.requiredJID("jid").bare
        let exact = try call.parameters.strings("group")
        let added = try call.parameters.strings("add")
        let removed = try call.parameters.strings("remove")
        guard exact.isEmpty || (added.isEmpty && removed.isEmpty) else {
            throw call.parameters.wrong("group", "names all groups: add and remove make no sense with it")
        }
        guard !(exact + added + removed).contains("") else { throw call.parameters.wrong("group", "is empty") }
        let session = try await call.session
        let stream = try await session.withRoster()
        let item = try await session.contact(jid, stream)
        // Without any name the contact leaves all its groups.
        let isChange = !added.isEmpty || !removed.isEmpty
        let groups = isChange ? Set(item.groups).union(added).subtracting(removed) : Set(exact)
        try await session.change(stream, jid, name: item.name, groups: groups.sorted())
        return try await session.result(jid, stream)
    }

    static func remove(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        let jid = try call.parameters.requiredJID("jid").bare
        let session = try await call.session
        let stream = try await session.withRoster()
        _ = try await session.contact(jid, stream)
        try await session.step { () throws(XMPPError) in try await stream.removeRosterItem(jid) }
        await session.waitForPush(stream, jid) { $0 == nil }
        var result = session.heading
        result["jid"] = .string(jid.description)
        return result
    }
}

extension AccountSession {
    /// A contact of the roster.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/contactNotFound``.
    nonisolated func contact(_ jid: JID, _ stream: XMPPStream) async throws(ControlError) -> RosterItem {
        guard let item = await stream.contact(jid) else {
            throw ControlError(.contactNotFound, "\(jid) is not in the contact list of \(name)", account: name)
        }
        return item
    }

    /// Sets name and groups, and waits until the roster shows them.
    fileprivate nonisolated func change(
        _ stream: XMPPStream, _ jid: JID, name: String?, groups: [String]
    ) async throws(ControlError) {
        try await step { () throws(XMPPError) in try await stream.setRosterItem(jid, name: name, groups: groups) }
        let groups = Set(groups).sorted()
        await waitForPush(stream, jid) { $0?.name ?? "" == name ?? "" && $0?.groups == groups }
    }

    /// Waits until the roster is as it should be, for a bounded time: a server need not say so.
    nonisolated func waitForPush(
        _ stream: XMPPStream, _ jid: JID, atMost limit: Duration = RosterMethods.pushWindow,
        _ isDone: @escaping @Sendable (RosterItem?) -> Bool
    ) async {
        _ = await feed.wait(atMost: limit) { isDone(await stream.contact(jid)) }
    }

    fileprivate nonisolated func result(_ jid: JID, _ stream: XMPPStream) async throws(ControlError) -> JSONObject {
        var result = heading
        result["contact"] = .object(ContactDocument.contact(await stream.contact(jid) ?? RosterItem(jid: jid)))
        return result
    }
}
