// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
internal import XMPPXML

/// Software Version (XEP-0092).
public enum SoftwareVersion {
    /// The namespace of requests and answers.
    public static let namespace = "jabber:iq:version"
}

extension XMPPStream {
    /// Asks what software somebody uses (XEP-0092).
    ///
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``; ``XMPPError/Code/stanzaError`` when the answer names none.
    public func softwareVersion(of jid: JID) async throws(XMPPError) -> SoftwareIdentity {
        let answer = try await request(
            IQ(.get, to: jid, payload: Element("query", namespace: SoftwareVersion.namespace)))
        func text(_ name: String) -> String? {
            answer.payload?.firstChild(name, namespace: SoftwareVersion.namespace)?.text
        }
        guard let name = text("name") else {
            throw XMPPError(StanzaError(.undefinedCondition, kind: .cancel, text: "no software is named"), from: jid)
        }
        return SoftwareIdentity(name: name, version: text("version") ?? "", operatingSystem: text("os"))
    }
}

extension StanzaRoutes {
    /// Answers with name and version, to those who may know that the user is there (XEP-0092 §5).
    mutating func addSoftwareVersion() {
        add(
            .get, "query", namespace: SoftwareVersion.namespace, from: .contacts,
            feature: SoftwareVersion.namespace,
            handler: .immediate { (_, context) throws(StanzaError) in
                var query = Element("query", namespace: SoftwareVersion.namespace)
                func append(_ name: String, _ text: String) {
                    query.append(Element(name, namespace: SoftwareVersion.namespace, text: text))
                }
                append("name", context.software.name)
                append("version", context.software.version)
                if let system = context.software.operatingSystem { append("os", system) }
                return query
            })
    }
}
