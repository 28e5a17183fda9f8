// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPXML

extension ComplianceReport {
    /// Services of a server that are asked what they are, at most; 16.
    public static let maximumServices = 16
}

extension XMPPStream {
    /// Asks the server what there is for ``ComplianceReport``: about itself, the account, and the services that it
    /// lists. Nothing is changed by that. Questions that fail are passed over; their answers stay `nil`.
    ///
    /// - Parameter evidence: What is known already, as of the places of the server.
    public func complianceEvidence(_ evidence: ComplianceEvidence = ComplianceEvidence()) async -> ComplianceEvidence {
        var evidence = evidence
        evidence.usesTLS = security != nil
        if let features { evidence.offers.append(features) }
        let domain = configuration.jid.domain
        let account = configuration.jid.bare
        async let server = try? discoverInformation(of: domain)
        async let own = try? discoverInformation(of: account)
        async let services = services(of: domain)
        async let roster = isAnswered(Element("query", namespace: Namespace.roster))
        async let card = isAnswered(Element("vCard", namespace: "vcard-temp"))
        async let storage = isAnswered(
            Element(
                "query", namespace: "jabber:iq:private",
                children: [Element("storage", namespace: "storage:bookmarks")]))
        (evidence.server, evidence.account, evidence.services) = await (server, own, services)
        (evidence.answersRoster, evidence.answersVCard, evidence.answersPrivateStorage) = await (roster, card, storage)
        return evidence
    }

    private func services(of domain: JID) async -> [DiscoveryInformation]? {
        guard let items = try? await discoverItems(of: domain) else { return nil }
        return await withTaskGroup(of: DiscoveryInformation?.self) { group in
            for item in items.prefix(ComplianceReport.maximumServices) where item.node == nil {
                group.addTask { try? await self.discoverInformation(of: item.jid) }
            }
            var found: [DiscoveryInformation] = []
            for await information in group { if let information { found.append(information) } }
            return found
        }
    }

    /// Whether the server, or the account at it, has an answer; `nil` when there was none at all.
    private func isAnswered(_ query: Element) async -> Bool? {
        do throws(XMPPError) {
            _ = try await request(IQ(.get, payload: query))
            return true
        } catch {
            guard let condition = error.stanzaError?.condition else { return nil }
            // RFC 6120 §8.3.3: what is not there may be known all the same.
            return condition == .itemNotFound
        }
    }
}
