// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore

/// A specification that a category of XEP-0479 asks of servers, and how a client sees whether it is there.
struct ComplianceRequirement: Sendable {
    let category: ComplianceReport.Category
    let level: ComplianceReport.Level
    let feature: String
    let specification: String
    let finding: @Sendable (ComplianceEvidence) -> ComplianceReport.Finding

    private init(
        _ category: ComplianceReport.Category, _ level: ComplianceReport.Level, _ feature: String,
        _ specification: String, _ finding: @escaping @Sendable (ComplianceEvidence) -> ComplianceReport.Finding
    ) {
        self.category = category
        self.level = level
        self.feature = feature
        self.specification = specification
        self.finding = finding
    }

    /// The table of XEP-0479 §2.1 to §2.5 for servers, in its order. Left out is what asks something of clients alone.
    static let all: [ComplianceRequirement] = core + web + im + mobile + calls

    private static let core = [
        ComplianceRequirement(.core, .core, "Core features", "RFC 6120", known { $0.offers.isEmpty ? nil : true }),
        ComplianceRequirement(.core, .core, "TLS", "RFC 7590", known { $0.usesTLS }),
        ComplianceRequirement(.core, .core, "Feature discovery", "XEP-0030", known { $0.server.map { _ in true } }),
        // Who is behind a service, a part of the server or a program beside it, does not show.
        ComplianceRequirement(.core, .core, "Server extensibility", "XEP-0114", known { _ in nil }),
        ComplianceRequirement(.core, .advanced, "Direct TLS", "XEP-0368", known { $0.hasDirectTLS }),
        ComplianceRequirement(
            .core, .advanced, "Feature broadcasts", "XEP-0115", offered("c", "http://jabber.org/protocol/caps")),
        ComplianceRequirement(
            .core, .advanced, "Event publishing", "XEP-0163",
            known { evidence in
                evidence.account.map { account in
                    account.identities.contains { $0.category == "pubsub" && $0.type == "pep" }
                }
            }),
    ]

    private static let web = [
        ComplianceRequirement(.web, .core, "Web connection mechanisms", "RFC 7395", known { $0.hasWebSocket }),
        ComplianceRequirement(.web, .core, "Web connection mechanisms", "XEP-0206", known { $0.hasBOSH }),
    ]

    private static let im = [
        ComplianceRequirement(.im, .core, "Core features", "RFC 6121", known { $0.answersRoster }),
        ComplianceRequirement(.im, .core, "vcard-temp", "XEP-0054", known { $0.answersVCard }),
        ComplianceRequirement(
            .im, .core, "Outbound message synchronization", "XEP-0280", announced("urn:xmpp:carbons:2")),
        ComplianceRequirement(.im, .core, "Group chat", "XEP-0045", service("http://jabber.org/protocol/muc")),
        ComplianceRequirement(.im, .core, "File upload", "XEP-0363", service("urn:xmpp:http:upload:0")),
        ComplianceRequirement(
            .im, .advanced, "User avatar compatibility", "XEP-0398", announced("urn:xmpp:pep-vcard-conversion:0")),
        ComplianceRequirement(.im, .advanced, "User blocking", "XEP-0191", announced("urn:xmpp:blocking")),
        // Rooms say so themselves, and their service may.
        ComplianceRequirement(
            .im, .advanced, "Advanced group chat", "XEP-0313",
            known { evidence in
                let rooms = evidence.services?.filter { $0.supports("http://jabber.org/protocol/muc") } ?? []
                return rooms.contains { $0.supports("urn:xmpp:mam:2") } ? true : nil
            }),
        ComplianceRequirement(
            .im, .advanced, "Advanced group chat", "XEP-0402",
            announced("urn:xmpp:bookmarks:1#compat", "urn:xmpp:bookmarks:1#compat-pep")),
        ComplianceRequirement(
            .im, .advanced, "Persistent storage of private data via PubSub", "XEP-0223",
            announced("http://jabber.org/protocol/pubsub#publish-options")),
        ComplianceRequirement(
            .im, .advanced, "Private XML storage", "XEP-0049", known { $0.answersPrivateStorage }),
        ComplianceRequirement(
            .im, .advanced, "Stream management", "XEP-0198", known { Self.offersStreamManagement($0) }),
        ComplianceRequirement(
            .im, .advanced, "History storage and retrieval", "XEP-0313", announced("urn:xmpp:mam:2")),
    ]

    private static let mobile = [
        ComplianceRequirement(
            .mobile, .core, "Stream management", "XEP-0198", known { Self.offersStreamManagement($0) }),
        ComplianceRequirement(
            .mobile, .core, "Client state indication", "XEP-0352", offered("csi", ClientState.namespace)),
        ComplianceRequirement(
            .mobile, .advanced, "Third party push notifications", "XEP-0357", announced("urn:xmpp:push:0")),
    ]

    private static let calls = [
        ComplianceRequirement(.calls, .core, "STUN/TURN server discovery", "XEP-0215", announced("urn:xmpp:extdisco:2"))
    ]

    private typealias Look = @Sendable (ComplianceEvidence) -> ComplianceReport.Finding

    private static func known(_ look: @escaping @Sendable (ComplianceEvidence) -> Bool?) -> Look {
        { evidence in look(evidence).map { $0 ? .met : .missing } ?? .unseen }
    }

    /// The server, or the account at it, names one of these features.
    private static func announced(_ features: String...) -> Look {
        known { evidence in
            let asked = [evidence.server, evidence.account].compactMap { $0 }
            if asked.contains(where: { features.contains(where: $0.supports) }) { return true }
            return asked.count == 2 ? false : nil
        }
    }

    /// A service of the server, or the server itself, names this feature.
    private static func service(_ feature: String) -> Look {
        known { evidence in
            let asked = (evidence.services ?? []) + [evidence.server].compactMap { $0 }
            if asked.contains(where: { $0.supports(feature) }) { return true }
            return evidence.services == nil ? nil : false
        }
    }

    /// The server offers this with the stream, or together with the binding of a resource (XEP-0386).
    private static func offered(_ name: String, _ namespace: String) -> Look {
        known { evidence in
            guard !evidence.offers.isEmpty else { return nil }
            return evidence.offers.contains { offer in
                offer.element.firstChild(name, namespace: namespace) != nil || offer.bind2Features.contains(namespace)
            }
        }
    }

    private static func offersStreamManagement(_ evidence: ComplianceEvidence) -> Bool? {
        guard !evidence.offers.isEmpty else { return nil }
        return evidence.offers.contains { offer in
            offer.offersStreamManagement || offer.offersInlineResumption
                || offer.bind2Features.contains(Namespace.streamManagement)
        }
    }
}
