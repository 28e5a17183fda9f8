// SPDX-License-Identifier: Apache-2.0

extension ControlClient {
    /// Who of the contacts is online, best first as `jabberctl online` shows them.
    ///
    /// - Parameters:
    ///   - group: Only contacts of this group; `nil` for all.
    ///   - includesOffline: Whether the others come too, behind them.
    /// - Throws: ``ControlError`` as ``call(_:_:)``; it is asked again of a daemon that was started anew meanwhile.
    public func online(
        group: String? = nil, includesOffline: Bool = false
    ) async throws(ControlError) -> [ControlContact] {
        var parameters: JSONObject = ["all": .bool(includesOffline)]
        if let group { parameters["group"] = .string(group) }
        return try await call("online", parameters, mayRepeat: true).contacts
    }

    /// The contact list.
    ///
    /// - Parameter group: Only contacts of this group; `nil` for all.
    /// - Throws: ``ControlError`` as ``online(group:includesOffline:)``.
    public func roster(group: String? = nil) async throws(ControlError) -> [ControlContact] {
        try await call("roster.list", group.map { ["group": .string($0)] } ?? [:], mayRepeat: true).contacts
    }

    /// Sends a text to some recipients. It arrives once, also when the daemon is killed and started anew meanwhile.
    ///
    /// - Parameters:
    ///   - text: The text; not empty.
    ///   - recipients: Their addresses, 1 to 1,000.
    ///   - id: What the message is known by: the same id twice is one message. `nil` for a new one.
    ///   - level: How far it has to come.
    /// - Returns: What has become of it, for each recipient in their order. One that is ``ControlSending/State/failed``
    ///   says why.
    /// - Throws: ``ControlError`` as ``call(_:_:)``; ``ControlErrorCode/timedOut`` when the level was not reached in
    ///   time: the message is on its way all the same.
    public func send(
        _ text: String, to recipients: [String], id: String? = nil, until level: ControlSending.Level = .server
    ) async throws(ControlError) -> [ControlSending] {
        var generator = SystemRandomNumberGenerator()
        let name = id ?? String(generator.next(), radix: 36) + String(generator.next(), radix: 36)
        let result = try await call(
            "send",
            [
                "to": .strings(recipients), "text": .string(text), "id": .string(name),
                "until": .string(level.rawValue),
            ], mayRepeat: true)
        return result.objects("results").map(ControlSending.init(json:))
    }

    /// Sets the own presence for as long as the daemon's session lasts.
    ///
    /// - Parameters:
    ///   - show: How one is.
    ///   - status: A word to it; `nil` for none.
    /// - Throws: ``ControlError`` as ``call(_:_:)``.
    public func setPresence(_ show: ControlShow, status: String? = nil) async throws(ControlError) {
        var parameters: JSONObject = ["show": .string(show.rawValue)]
        if let status { parameters["status"] = .string(status) }
        _ = try await call("presence.set", parameters, mayRepeat: true)
    }

    /// The daemon's accounts, or the one of ``account``.
    ///
    /// - Throws: ``ControlError`` as ``online(group:includesOffline:)``.
    public func status() async throws(ControlError) -> [ControlAccount] {
        try await call("status", [:], mayRepeat: true).objects("accounts").map(ControlAccount.init(json:))
    }

    /// Notes how far a consumer of events has come: the next one of that name begins with the event after this one.
    ///
    /// - Parameters:
    ///   - event: The last one that it has dealt with. One that is not kept changes nothing.
    ///   - consumer: Its name.
    /// - Throws: ``ControlError`` as ``call(_:_:)``; it is asked again of a daemon that was started anew meanwhile.
    public func acknowledge(_ event: ControlEvent, by consumer: String) async throws(ControlError) {
        guard let cursor = event.cursor else { return }
        try await acknowledge(cursor, by: consumer, of: event.account)
    }

    func acknowledge(_ cursor: String, by consumer: String, of account: String?) async throws(ControlError) {
        var parameters: JSONObject = ["consumer": .string(consumer), "cursor": .string(cursor)]
        if let account { parameters["session"] = ["account": .string(account)] }
        _ = try await call("ack", parameters, mayRepeat: true)
    }

    /// Events as they come, for as long as they are asked for; over restarts of the daemon.
    ///
    /// Each iteration has a connection of its own. While nobody takes events nothing more is read, and the daemon keeps
    /// them; of presence and of who types it keeps the latest of each contact. After the connection was lost it is made
    /// again, and what was kept meanwhile comes first: no message is missing and none comes twice. When kept events are
    /// gone, after 10,000 of them or 30 days, one of the kind ``ControlEvent/Kind/gap`` says so.
    ///
    /// - Parameters:
    ///   - kinds: Which kinds of events.
    ///   - sender: Only those from this address; a bare one means all its resources.
    ///   - place: Events before those to come: after a cursor, or from a time on (RFC 3339), as far as they are kept.
    ///   - consumer: A name that is kept how far it has come, so that the next one of that name begins there.
    ///   - acknowledgement: What counts as dealt with, for a consumer.
    /// - Returns: The sequence. It throws ``ControlError`` when it cannot begin, or when the daemon says that there can
    ///   be no more events; it ends when the task is cancelled.
    nonisolated public func events(
        _ kinds: Set<ControlEvent.Kind> = [.message], from sender: String? = nil, since place: String? = nil,
        consumer: String? = nil, acknowledgement: ControlEvents.Acknowledgement = .automatic
    ) -> ControlEvents {
        var parameters: JSONObject = ["kind": .strings(kinds.map(\.rawValue).sorted())]
        if let sender { parameters["from"] = .string(sender) }
        if let account { parameters["session"] = ["account": .string(account)] }
        if let consumer {
            parameters["consumer"] = .string(consumer)
            // What was handed over is not dealt with yet: only this end knows when it is.
            parameters["ack"] = "manual"
        }
        return ControlEvents(
            client: self, parameters: parameters, place: place, consumer: consumer,
            isAutomatic: acknowledgement == .automatic)
    }
}

extension JSONObject {
    /// The objects of a list; empty when there is none.
    func objects(_ key: String) -> [JSONObject] {
        (self[key]?.arrayValue ?? []).compactMap(\.objectValue)
    }

    fileprivate var contacts: [ControlContact] { objects("contacts").map(ControlContact.init(json:)) }
}
