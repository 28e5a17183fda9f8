// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
internal import XMPPXML

/// Somebody who is something to a room, whether or not they are there.
public struct RoomMember: Sendable, Hashable {
    /// Their address.
    public var jid: JID
    /// What they are.
    public var affiliation: RoomAffiliation
    /// Their nickname, where the room knows one.
    public var nickname: String?
    /// Why, for people.
    public var reason: String?
}

extension XMPPStream {
    /// Those who are something to a room: its owners, its members, or those who may not come in (XEP-0045 §9.5, §9.8).
    /// One whose address is none is left out.
    ///
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``: who may ask is for the room to say.
    public func members(
        of room: JID, with affiliation: RoomAffiliation
    ) async throws(XMPPError) -> [RoomMember] {
        let item = Self.item(["affiliation": affiliation.rawValue])
        let answer = try await request(IQ(.get, to: room.bare, payload: Self.admin([item])))
        return (answer.payload?.children("item", namespace: MultiUserChat.admin) ?? []).compactMap { item in
            guard let jid = item["jid"].flatMap({ try? JID($0) }) else { return nil }
            return RoomMember(
                jid: jid, affiliation: item["affiliation"].flatMap(RoomAffiliation.init) ?? affiliation,
                nickname: item["nick"], reason: item.firstChild("reason", namespace: MultiUserChat.admin)?.text)
        }
    }

    /// Makes somebody something to a room, whether or not they are there (XEP-0045 §9, §10): `outcast` bans them,
    /// `none` takes everything back.
    ///
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``.
    public func setAffiliation(
        _ affiliation: RoomAffiliation, of jid: JID, in room: JID, reason: String? = nil
    ) async throws(XMPPError) {
        let item = Self.item(["affiliation": affiliation.rawValue, "jid": jid.bare.description], reason)
        try await request(IQ(.set, to: room.bare, payload: Self.admin([item])))
    }

    /// Gives somebody who is in a room another role (XEP-0045 §8): `none` shows them out, `visitor` takes their voice.
    ///
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``.
    public func setRole(
        _ role: RoomRole, of nickname: String, in room: JID, reason: String? = nil
    ) async throws(XMPPError) {
        let item = Self.item(["role": role.rawValue, "nick": nickname], reason)
        try await request(IQ(.set, to: room.bare, payload: Self.admin([item])))
    }

    /// The settings of a room, as a form for its owner (XEP-0045 §10.2).
    ///
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``.
    public func roomConfiguration(of room: JID) async throws(XMPPError) -> DataForm {
        let query = Element("query", namespace: MultiUserChat.owner)
        let answer = try await request(IQ(.get, to: room.bare, payload: query))
        guard let form = answer.payload?.children.lazy.compactMap(DataForm.init).first else {
            throw XMPPError(StanzaError(.undefinedCondition, kind: .cancel, text: "there is no form"), from: room)
        }
        return form
    }

    /// Changes the settings of a room (XEP-0045 §10.2).
    ///
    /// - Parameters:
    ///   - form: The form, filled in (``DataForm/filled(_:)``).
    ///   - room: The room's address.
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``.
    public func configure(_ form: DataForm, of room: JID) async throws(XMPPError) {
        let query = Element("query", namespace: MultiUserChat.owner, children: [form.element])
        try await request(IQ(.set, to: room.bare, payload: query))
    }

    /// Ends a room for everybody (XEP-0045 §10.9).
    ///
    /// - Parameters:
    ///   - room: The room's address.
    ///   - reason: Why, for people.
    ///   - alternative: The room to go to instead.
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``.
    public func destroyRoom(
        _ room: JID, reason: String? = nil, alternative: JID? = nil
    ) async throws(XMPPError) {
        var destroy = Element(
            "destroy", namespace: MultiUserChat.owner, attributes: ["jid": alternative?.bare.description])
        if let reason { destroy.append(Element("reason", namespace: MultiUserChat.owner, text: reason)) }
        let query = Element("query", namespace: MultiUserChat.owner, children: [destroy])
        try await request(IQ(.set, to: room.bare, payload: query))
    }

    /// What a room asks of those who want to be its members (XEP-0045 §7.10); `nil` when the user is one already.
    ///
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``.
    public func roomRegistration(in room: JID) async throws(XMPPError) -> DataForm? {
        let form = try await registrationForm(of: room.bare)
        return form.isRegistered ? nil : form.form
    }

    /// Asks to be a member of a room.
    ///
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``.
    public func register(_ form: DataForm, in room: JID) async throws(XMPPError) {
        try await register(form, with: room.bare)
    }

    private static func admin(_ items: [Element]) -> Element {
        Element("query", namespace: MultiUserChat.admin, children: items)
    }

    private static func item(_ attributes: KeyValuePairs<String, String?>, _ reason: String? = nil) -> Element {
        var item = Element("item", namespace: MultiUserChat.admin, attributes: attributes)
        if let reason { item.append(Element("reason", namespace: MultiUserChat.admin, text: reason)) }
        return item
    }
}

extension Room {
    /// Shows somebody out (XEP-0045 §8.2).
    public func kick(_ nickname: String, reason: String? = nil) async throws(XMPPError) {
        try await stream().setRole(.none, of: nickname, in: jid, reason: reason)
    }

    /// Gives somebody another role (XEP-0045 §8).
    public func setRole(_ role: RoomRole, of nickname: String, reason: String? = nil) async throws(XMPPError) {
        try await stream().setRole(role, of: nickname, in: jid, reason: reason)
    }

    /// Asks somebody in through the room (XEP-0045 §7.8.2), which also opens the door for them where it is one for
    /// members.
    public func invite(_ jid: JID, reason: String? = nil) async throws(XMPPError) {
        var invite = Element("invite", namespace: MultiUserChat.user, attributes: ["to": jid.description])
        if let reason { invite.append(Element("reason", namespace: MultiUserChat.user, text: reason)) }
        var message = Message(to: self.jid, kind: .normal)
        message.append(Element("x", namespace: MultiUserChat.user, children: [invite]))
        try await stream().send(message)
    }
}
