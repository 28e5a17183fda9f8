// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPXML

/// A message in the archive of an account.
struct LoopbackArchived {
    let id: String
    let at: DateTime
    let element: Element
}

extension LoopbackRouter {
    /// The namespace of archives (XEP-0313).
    static let archive = "urn:xmpp:mam:2"
    private static let resultSets = "http://jabber.org/protocol/rsm"

    /// Puts a message into the archive of an account, where archives are offered and there is something to read.
    ///
    /// - Returns: The message with the id that the archive gave it (XEP-0359).
    func archived(_ message: Message, of account: LoopbackAccount?) -> Message {
        guard options.offersArchive, let account, message.body != nil, message.kind == .chat || message.kind == .normal
        else { return message }
        let id = "archived-\(account.archive.count + 1)"
        account.archive.append(LoopbackArchived(id: id, at: wallClock(), element: message.element))
        if account.archive.count > LoopbackAccount.maximumArchivedMessages { account.archive.removeFirst() }
        var named = message
        named.append(
            Element(
                "stanza-id", namespace: "urn:xmpp:sid:0", attributes: ["by": account.jid.description, "id": id]))
        return named
    }

    /// Answers a question to an archive: the page that was asked for goes first.
    ///
    /// - Returns: What says that it has ended; `nil` when the page begins nowhere.
    func answer(archive query: Element, of account: LoopbackAccount, to endpoint: any LoopbackEndpoint) -> Element? {
        defer { letGo() }
        return answer(archive: query, account.archive, of: account.jid.bare, to: endpoint)
    }

    /// Answers a question to the archive of a room (XEP-0313 §6.2), to whoever asks.
    func answer(archive query: Element, ofRoom room: JID, to endpoint: any LoopbackEndpoint) -> Element? {
        let entries = (rooms?.halls[room]?.history ?? []).compactMap { line -> LoopbackArchived? in
            guard let id = line.firstChild("stanza-id", namespace: "urn:xmpp:sid:0")?["id"],
                let stamp = line.firstChild("delay", namespace: Namespace.delay)?["stamp"], let at = DateTime(stamp)
            else { return nil }
            var element = line
            element.removeChildren { $0.localName == "delay" || $0.localName == "stanza-id" }
            return LoopbackArchived(id: id, at: at, element: element)
        }
        return answer(archive: query, entries, of: room, to: endpoint)
    }

    private func answer(
        archive query: Element, _ entries: [LoopbackArchived], of owner: JID, to endpoint: any LoopbackEndpoint
    ) -> Element? {
        let fields = query.firstChild("x", namespace: "jabber:x:data")?.children ?? []
        func value(_ name: String) -> String? {
            fields.first { $0["var"] == name }?.firstChild("value", namespace: "jabber:x:data")?.text
        }
        let set = query.firstChild("set", namespace: Self.resultSets)
        let with = value("with").flatMap { try? JID($0) }
        let (start, end) = (value("start").flatMap(DateTime.init), value("end").flatMap(DateTime.init))
        var found = entries.filter { entry in
            let addresses = [entry.element["from"], entry.element["to"]].compactMap { $0.flatMap { try? JID($0) } }
            return (start.map { entry.at >= $0 } ?? true) && (end.map { entry.at <= $0 } ?? true)
                && (with.map { with in addresses.contains { $0 == with || $0.bare == with } } ?? true)
        }
        if !options.archiveGoesInCircles, let after = set?.firstChild("after", namespace: Self.resultSets)?.text {
            guard let place = found.firstIndex(where: { $0.id == after }) else { return nil }
            found.removeFirst(place + 1)
        }
        // XEP-0059 §2.5: `<before/>` asks for the last page, or for the one in front of an item.
        let before = set?.firstChild("before", namespace: Self.resultSets)?.text
        if let before, !before.isEmpty {
            guard let place = found.firstIndex(where: { $0.id == before }) else { return nil }
            found.removeSubrange(place...)
        }
        let maximum = max(0, set?.firstChild("max", namespace: Self.resultSets).flatMap { Int($0.text) } ?? 100)
        let page = before == nil ? found.prefix(maximum) : found.suffix(maximum)
        for entry in page { endpoint.deliver(result(entry, query["queryid"], of: owner, to: endpoint)) }
        var fin = Element("fin", namespace: Self.archive)
        if page.count == found.count, !options.archiveGoesInCircles { fin["complete"] = "true" }
        var place = Element("set", namespace: Self.resultSets)
        if let first = page.first, let last = page.last {
            place.append(Element("first", namespace: Self.resultSets, text: first.id))
            place.append(Element("last", namespace: Self.resultSets, text: last.id))
        }
        fin.append(place)
        return fin
    }

    private func result(
        _ entry: LoopbackArchived, _ name: String?, of owner: JID, to endpoint: any LoopbackEndpoint
    ) -> Element {
        var forwarded = Element("forwarded", namespace: "urn:xmpp:forward:0")
        forwarded.append(
            Element("delay", namespace: Namespace.delay, attributes: ["stamp": entry.at.description]))
        forwarded.append(entry.element)
        let result = Element(
            "result", namespace: Self.archive, attributes: ["queryid": name, "id": entry.id], children: [forwarded])
        return Element(
            "message", namespace: Namespace.client,
            attributes: ["from": owner.description, "to": endpoint.jid.description], children: [result])
    }
}
