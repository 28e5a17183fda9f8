// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
internal import XMPPXML

/// A change of the list of those whom the account does not want to hear of, by any client of it (XEP-0191 §3).
public enum BlockListChange: Sendable, Hashable {
    /// These addresses were added.
    case blocked([JID])
    /// These addresses were taken away.
    case unblocked([JID])
    /// All addresses were taken away.
    case cleared
}

/// The blocking command (XEP-0191).
public enum BlockList {
    /// The namespace of the command.
    public static let namespace = "urn:xmpp:blocking"

    /// The addresses of items; one that is none is left out.
    static func addresses(in element: Element) -> [JID] {
        element.children("item", namespace: namespace).compactMap { $0["jid"].flatMap { try? JID($0) } }
    }

    /// What a push says; `nil` for a child that is none, or that adds nobody (XEP-0191 §3.3).
    static func change(_ element: Element) -> BlockListChange? {
        let addresses = addresses(in: element)
        let isEmpty = element.children("item", namespace: namespace).isEmpty
        switch element.localName {
        case "block": return addresses.isEmpty ? nil : .blocked(addresses)
        case "unblock" where isEmpty: return .cleared
        case "unblock": return addresses.isEmpty ? nil : .unblocked(addresses)
        default: return nil
        }
    }
}

extension XMPPStream {
    /// Asks whom the account does not want to hear of. From then on changes are reported as
    /// ``XMPPEvent/blockList(_:)`` (XEP-0191 §3.2).
    ///
    /// - Returns: Addresses of people, of single clients, or of whole domains.
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``.
    public func blockList() async throws(XMPPError) -> [JID] {
        let answer = try await request(IQ(.get, payload: Element("blocklist", namespace: BlockList.namespace)))
        return answer.payload.map(BlockList.addresses) ?? []
    }

    /// Lets nothing more of an address come or go (XEP-0191 §3.3). To a contact the user looks offline.
    ///
    /// - Parameters:
    ///   - jid: The address of a person, a single client, or a whole domain.
    ///   - report: What the server's operator is told about it (XEP-0377); left out where the server takes no reports.
    /// - Returns: Whether the report went with it: `false` where the server takes none, and without one.
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``.
    @discardableResult
    public func block(_ jid: JID, report: AbuseReport? = nil) async throws(XMPPError) -> Bool {
        var item = Element("item", namespace: BlockList.namespace, attributes: ["jid": jid.description])
        var isReported = false
        if let report {
            let server = try? await knownInformation(of: configuration.jid.domain)
            isReported = server?.supports(AbuseReport.namespace) == true
            if isReported { item.append(report.element) }
        }
        try await request(
            IQ(.set, payload: Element("block", namespace: BlockList.namespace, children: [item])))
        return isReported
    }

    /// Lets an address come and go again (XEP-0191 §3.4).
    ///
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``.
    public func unblock(_ jid: JID) async throws(XMPPError) {
        let item = Element("item", namespace: BlockList.namespace, attributes: ["jid": jid.description])
        try await request(
            IQ(.set, payload: Element("unblock", namespace: BlockList.namespace, children: [item])))
    }

    /// Takes every address off the list (XEP-0191 §3.5).
    ///
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``.
    public func unblockEverybody() async throws(XMPPError) {
        try await request(IQ(.set, payload: Element("unblock", namespace: BlockList.namespace)))
    }

    /// A change of the list; the route has checked that the own account says so.
    func received(blockListPush iq: IQ) {
        guard let change = iq.payload.flatMap(BlockList.change) else {
            reply(iq.failure(.badRequest))
            return
        }
        reply(iq.result())
        report(.blockList(change))
    }
}

extension StanzaRoutes {
    /// Takes changes of the list from the own account alone (XEP-0191 §3.3).
    mutating func addBlockList() {
        for name in ["block", "unblock"] {
            add(
                .set, name, namespace: BlockList.namespace, from: .ownAccount, feature: nil,
                handler: .stream { (stream, request) in stream.received(blockListPush: request) })
        }
    }
}
