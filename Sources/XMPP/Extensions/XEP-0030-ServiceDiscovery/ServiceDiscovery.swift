// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
internal import XMPPProtocol
internal import XMPPXML

extension XMPPStream {
    /// Asks what an entity is and can do (XEP-0030 §3).
    ///
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``.
    public func discoverInformation(
        of jid: JID, node: String? = nil
    ) async throws(XMPPError) -> DiscoveryInformation {
        let query = Element("query", namespace: DiscoveryInformation.namespace, attributes: ["node": node])
        let answer = try await request(IQ(.get, to: jid, payload: query))
        guard let information = answer.payload.flatMap(DiscoveryInformation.init) else {
            throw XMPPError(StanzaError(.undefinedCondition, kind: .cancel, text: "the answer is empty"), from: jid)
        }
        return information
    }

    /// Asks which entities belong to another one (XEP-0030 §4). Items whose address is not a JID are left out.
    ///
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``.
    public func discoverItems(of jid: JID, node: String? = nil) async throws(XMPPError) -> [DiscoveryItem] {
        let query = Element("query", namespace: DiscoveryItem.namespace, attributes: ["node": node])
        let answer = try await request(IQ(.get, to: jid, payload: query))
        let items = answer.payload?.children("item", namespace: DiscoveryItem.namespace) ?? []
        return items.compactMap { item in
            guard let jid = item["jid"].flatMap({ try? JID($0) }) else { return nil }
            return DiscoveryItem(jid: jid, node: item["node"], name: item["name"])
        }
    }
}

extension RequestContext {
    /// What this client says of itself.
    var information: DiscoveryInformation {
        DiscoveryInformation(
            identities: [.init(category: "client", type: clientType, name: software.name)], features: features)
    }
}

extension StanzaRoutes {
    /// Answers what this client is and can do, to those who may know that the user is there (XEP-0030 §8).
    mutating func addServiceDiscovery() {
        add(
            .get, "query", namespace: DiscoveryInformation.namespace, from: .contacts,
            feature: DiscoveryInformation.namespace,
            handler: .immediate { (request, context) throws(StanzaError) in
                let node = request.payload?["node"]
                let information = context.information
                // Without a node, or for one that our presence names (XEP-0115 §6.2, XEP-0390 §5.5).
                guard
                    node == nil || node == EntityCapabilities.advertised(information).fullNode
                        || CapabilityHashSet.advertised(information)?.values.contains(where: { $0.node == node })
                            == true
                else {
                    throw StanzaError(.itemNotFound, kind: .cancel)
                }
                return information.element(node: node)
            })
        add(
            .get, "query", namespace: DiscoveryItem.namespace, from: .contacts, feature: nil,
            handler: .immediate { (request, _) throws(StanzaError) in
                Element("query", namespace: DiscoveryItem.namespace, attributes: ["node": request.payload?["node"]])
            })
    }
}
