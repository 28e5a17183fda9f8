// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP

/// `send`: one message to some recipients. Needs neither roster nor presence: log in, send, one round trip.
enum SendMethod {
    /// How much longer a bounce may take that another server sends.
    static let remoteBounceWindow: Duration = .milliseconds(250)

    static func run(_ call: MethodCall) async throws(ControlError) -> JSONObject {
        try await run(call, SendOrder(call.parameters))
    }

    /// Sends what was ordered, and tells how far it came.
    static func run(_ call: MethodCall, _ order: SendOrder) async throws(ControlError) -> JSONObject {
        let started = SystemMoment.now
        let session = try await call.session
        // Some time is left to tell how far it came: on a busy machine that takes more than a moment.
        let deadline = call.patience.map { started + $0 - min(max($0 / 10, .milliseconds(100)), .seconds(2)) }
        if await session.holding != nil {
            var result = session.heading
            result["results"] = .array(try await session.post(order, until: deadline).map(JSONValue.object))
            return result
        }
        let stream = try await session.established()
        let rooms = await session.rooms(of: order, on: stream)
        var results: [JSONObject] = []
        if rooms.isEmpty, !order.isForRooms {
            results = await session.sendOnce(order, on: stream, until: deadline)
        } else {
            for recipient in order.recipients {
                results.append(await session.send(order, to: recipient, rooms, on: stream, until: deadline))
            }
        }
        var result = session.heading
        result["results"] = .array(results.map(JSONValue.object))
        return result
    }
}

/// What is to be sent to whom.
struct SendOrder: Sendable {
    /// The recipients, or why one is none.
    private(set) var recipients: [(text: String, jid: Result<JID, ControlError>)]
    /// The caller's name for the message.
    let id: String?
    /// How long it may wait to be sent; `nil` for as long as it takes.
    let expiry: Duration?
    /// What to wait for.
    let level: Level
    /// Whether it is for rooms.
    let isForRooms: Bool
    /// The name to have in them.
    let nickname: String?
    private let make: @Sendable (JID) -> Message

    /// How far a message has to come, least first.
    enum Level: String, CaseIterable {
        /// To the network.
        case none
        /// To the server, which has not sent it back.
        case server
        /// To a program of the recipient's (XEP-0184).
        case device
        /// To the recipient's eyes (XEP-0333).
        case read
    }

    /// Orders one message that is made here.
    init(to jid: JID, make: @escaping @Sendable (JID) -> Message) {
        recipients = [(jid.description, .success(jid))]
        id = nil
        expiry = nil
        level = .server
        isForRooms = false
        nickname = nil
        self.make = make
    }

    /// - Throws: `ControlError` when a parameter is wrong, or when no recipient is an address.
    init(_ parameters: Parameters) throws(ControlError) {
        let addresses = try parameters.strings("to")
        guard !addresses.isEmpty else { throw parameters.wrong("to", "is missing or empty") }
        guard addresses.count <= MethodTable.maximumRecipients else {
            throw parameters.wrong("to", "has more than \(MethodTable.maximumRecipients) recipients; nothing was sent")
        }
        recipients = addresses.map { address in
            do throws(ControlError) {
                return (address, .success(try Parameters.jid(address)))
            } catch {
                return (address, .failure(error))
            }
        }
        if let first = recipients.first, case .failure(let error) = first.jid,
            recipients.allSatisfy({ (try? $0.jid.get()) == nil })
        {
            throw error
        }
        let text = try parameters.required("text")
        let subject = try parameters.string("subject")
        let thread = try parameters.string("thread")
        let id = try parameters.string("id")
        let corrected = try parameters.string("correct")
        let answered = try parameters.string("replyTo")
        for (key, value) in [("id", id), ("correct", corrected), ("replyTo", answered)] where value?.isEmpty == true {
            throw parameters.wrong(key, "is empty")
        }
        let word = try parameters.choice("type", of: ["chat", "normal", "headline", "groupchat"])
        let kind = word.flatMap(Message.Kind.init) ?? .chat
        isForRooms = try parameters.flag("room") || kind == .groupchat
        nickname = try parameters.string("nick")
        let level = try parameters.choice("until", of: Level.allCases.map(\.rawValue)).flatMap(Level.init) ?? .server
        let asksForReceipt = try parameters.flag("receipt")
        self.id = id
        self.level = level
        expiry = try parameters.seconds("expire")
        make = { jid in
            var message = Message(to: jid, kind: kind, body: text, id: id)
            message.subject = subject
            message.thread = thread
            message.correctedID = corrected
            if let answered { message.replyTo = MessageReply(answered, to: jid) }
            if level == .device || level == .read || asksForReceipt { message.requestsReceipt = true }
            if level == .read || asksForReceipt { message.isMarkable = true }
            return message
        }
    }

    /// The same for one of the recipients.
    func only(_ recipient: (text: String, jid: Result<JID, ControlError>)) -> SendOrder {
        var order = self
        order.recipients = [recipient]
        return order
    }

    /// The message for one recipient.
    func message(to jid: JID) -> Message { make(jid) }

    /// Whether a recipient is a room.
    ///
    /// - Parameter isKnown: Whether the account is in a room of that address.
    /// - Throws: `ControlError` for what should be a room and is none, and where is waited for what rooms do not tell.
    func isToRoom(_ jid: JID, _ isKnown: Bool) throws(ControlError) -> Bool {
        guard isForRooms || isKnown else { return false }
        guard jid.isBare, jid.localpart != nil else {
            throw ControlError(.badJID, "\"\(jid)\" is not the address of a room: that is room@service")
        }
        // XEP-0184 §5.3 has no receipts for what is said to many.
        guard level != .device else {
            throw ControlError(
                .badParameters,
                "\(jid) is a room, which does not tell whose device has a message; wait for \"server\" (the room has sent it "
                    + "back) or \"read\" (somebody there has seen it)")
        }
        return true
    }
}

extension AccountSession {
    /// The recipients of an order that are rooms: all of them where it says so, else those that the account is in.
    fileprivate func rooms(of order: SendOrder, on stream: XMPPStream) async -> Set<JID> {
        let addresses = order.recipients.compactMap { try? $0.jid.get() }.filter { $0.isBare && $0.localpart != nil }
        if order.isForRooms { return Set(addresses) }
        let joined = Set(await stream.joinedRooms.map(\.jid))
        return joined.isEmpty ? [] : joined.intersection(addresses)
    }

    /// Sends a message to one recipient, where some of the order's are rooms.
    fileprivate func send(
        _ order: SendOrder, to recipient: (text: String, jid: Result<JID, ControlError>), _ rooms: Set<JID>,
        on stream: XMPPStream, until deadline: SystemMoment?
    ) async -> JSONObject {
        do throws(ControlError) {
            let jid = try recipient.jid.get()
            if try order.isToRoom(jid, rooms.contains(jid)) {
                return await RoomDelivery.send(
                    order.message(to: jid), to: jid, nickname: order.nickname, session: self, stream: stream,
                    until: deadline)
            }
            return await sendOnce(order.only(recipient), on: stream, until: deadline).first ?? [:]
        } catch {
            return Delivery.result(to: recipient.text, id: order.id, state: "failed", error)
        }
    }

    /// Sends a message to each recipient; those that got one with the same id before get no second.
    ///
    /// - Returns: How far each came, in the recipients' order.
    func sendOnce(
        _ order: SendOrder, on stream: XMPPStream, until deadline: SystemMoment?
    ) async -> [JSONObject] {
        enum Slot {
            case refused(JSONObject)
            case known(Task<JSONObject, Never>)
            case place(Int)
        }
        let delivery = Delivery(order: order, session: self, stream: stream, deadline: deadline)
        var places: [JID: Int] = [:]
        let slots = order.recipients.map { recipient -> Slot in
            guard case .success(let jid) = recipient.jid else {
                return .refused(delivery.refused(recipient.text, recipient.jid))
            }
            if let place = places[jid] { return .place(place) }
            if let id = order.id, let known = sentMessages[SentResults.Key(id: id, to: jid)] { return .known(known) }
            let place = delivery.add(jid)
            places[jid] = place
            return .place(place)
        }
        delivery.begin()
        if let id = order.id {
            for (jid, place) in places {
                sentMessages.note(SentResults.Key(id: id, to: jid), Task { await delivery.result(place) })
            }
        }
        var results: [JSONObject] = []
        for slot in slots {
            switch slot {
            case .refused(let result): results.append(result)
            case .known(let task): results.append(await task.value)
            case .place(let place): results.append(await delivery.result(place))
            }
        }
        if let id = order.id {
            for place in delivery.unsent { sentMessages.forget(SentResults.Key(id: id, to: place)) }
        }
        return results
    }
}
