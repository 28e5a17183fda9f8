// SPDX-License-Identifier: Apache-2.0

import Testing
import XMPPTestSupport

@testable import XMPP

@Suite("What a server has of the Compliance Suites 2023 (XEP-0479)", .timeLimit(.minutes(5)))
struct ComplianceReportTests {
    private static let serverFeatures = [
        "urn:xmpp:carbons:2", "urn:xmpp:blocking", "urn:xmpp:extdisco:2",
    ]
    private static let accountFeatures = [
        "urn:xmpp:pep-vcard-conversion:0", "urn:xmpp:bookmarks:1#compat", "urn:xmpp:mam:2", "urn:xmpp:push:0",
        "http://jabber.org/protocol/pubsub#publish-options",
    ]

    /// All that a client can see of a server that has everything, without these features.
    private static func evidence(without missing: Set<String> = []) throws -> ComplianceEvidence {
        func information(_ features: [String], pep: Bool = false) -> DiscoveryInformation {
            let identities = pep ? [DiscoveryInformation.Identity(category: "pubsub", type: "pep")] : []
            return DiscoveryInformation(identities: identities, features: features.filter { !missing.contains($0) })
        }
        var evidence = ComplianceEvidence()
        evidence.usesTLS = true
        evidence.hasDirectTLS = !missing.contains("direct")
        evidence.hasWebSocket = !missing.contains("websocket")
        evidence.hasBOSH = !missing.contains("bosh")
        evidence.server = information(serverFeatures)
        evidence.account = information(accountFeatures, pep: !missing.contains("pep"))
        evidence.services = [
            information(["http://jabber.org/protocol/muc", "urn:xmpp:mam:2"]), information(["urn:xmpp:http:upload:0"]),
        ]
        evidence.answersRoster = !missing.contains("roster")
        evidence.answersVCard = !missing.contains("vcard")
        evidence.answersPrivateStorage = !missing.contains("storage")
        let offers = [
            "sm": "<sm xmlns='urn:xmpp:sm:3'/>", "csi": "<csi xmlns='urn:xmpp:csi:0'/>",
            "caps": "<c xmlns='http://jabber.org/protocol/caps' hash='sha-1' node='n' ver='v'/>",
        ]
        let text = offers.filter { !missing.contains($0.key) }.values.joined()
        evidence.offers = [
            StreamFeatures(try Element.parse("<features xmlns='http://etherx.jabber.org/streams'>\(text)</features>"))
        ]
        return evidence
    }

    @Test("a server that has everything meets every category at both levels, but for what nobody can see")
    func everything() throws {
        let report = ComplianceReport(try Self.evidence())
        #expect(report.rows.count == 10 && report.rows.allSatisfy { $0.finding == .met && $0.missing.isEmpty })
        #expect(Set(report.items.filter { $0.finding == .unseen }.map(\.specification)) == ["XEP-0114"])
    }

    @Test("of nothing nothing can be said")
    func nothing() {
        let report = ComplianceReport(ComplianceEvidence())
        #expect(report.items.allSatisfy { $0.finding == .unseen })
        #expect(report.rows.allSatisfy { $0.finding == .unseen && $0.missing.isEmpty && !$0.unseen.isEmpty })
    }

    @Test(
        "what is not there is missing in the categories that ask for it, and those of core in every one (XEP-0479 §2)",
        arguments: [
            (
                "direct", "XEP-0368",
                ["core advanced", "web advanced", "im advanced", "mobile advanced", "calls advanced"]
            ),
            (
                "caps", "XEP-0115",
                ["core advanced", "web advanced", "im advanced", "mobile advanced", "calls advanced"]
            ),
            ("pep", "XEP-0163", ["core advanced", "web advanced", "im advanced", "mobile advanced", "calls advanced"]),
            ("websocket", "RFC 7395", ["web core", "web advanced"]),
            ("bosh", "XEP-0206", ["web core", "web advanced"]),
            ("roster", "RFC 6121", ["im core", "im advanced"]), ("vcard", "XEP-0054", ["im core", "im advanced"]),
            ("urn:xmpp:carbons:2", "XEP-0280", ["im core", "im advanced"]),
            ("urn:xmpp:http:upload:0", "XEP-0363", ["im core", "im advanced"]),
            ("http://jabber.org/protocol/muc", "XEP-0045", ["im core", "im advanced"]),
            ("urn:xmpp:pep-vcard-conversion:0", "XEP-0398", ["im advanced"]),
            ("urn:xmpp:blocking", "XEP-0191", ["im advanced"]),
            ("urn:xmpp:bookmarks:1#compat", "XEP-0402", ["im advanced"]),
            ("http://jabber.org/protocol/pubsub#publish-options", "XEP-0223", ["im advanced"]),
            ("storage", "XEP-0049", ["im advanced"]), ("urn:xmpp:mam:2", "XEP-0313", ["im advanced"]),
            ("sm", "XEP-0198", ["im advanced", "mobile core", "mobile advanced"]),
            ("csi", "XEP-0352", ["mobile core", "mobile advanced"]),
            ("urn:xmpp:push:0", "XEP-0357", ["mobile advanced"]),
            ("urn:xmpp:extdisco:2", "XEP-0215", ["calls core", "calls advanced"]),
        ])
    func missing(_ what: String, _ specification: String, _ rows: [String]) throws {
        let report = ComplianceReport(try Self.evidence(without: [what]))
        let found = report.rows.filter { $0.finding == .missing }
        #expect(found.map { "\($0.category.rawValue) \($0.level.rawValue)" } == rows)
        #expect(found.allSatisfy { Set($0.missing.map(\.specification)) == [specification] })
    }

    @Test("real servers are asked, and what they are known to have is seen", arguments: ServerKind.expected)
    func real(kind: ServerKind) async throws {
        let server = try await kind.start(domain: "example.net", accounts: ["romeo": "secret"])
        let stream = XMPPStream(try server.configuration(for: "romeo"))
        try await stream.connect()
        let evidence = await stream.complianceEvidence()
        await stream.disconnect()
        let items = ComplianceReport(evidence).items
        func finding(_ specification: String) -> ComplianceReport.Finding? {
            items.first { $0.specification == specification }?.finding
        }
        for specification in ["RFC 6120", "RFC 7590", "XEP-0030", "RFC 6121"] {
            #expect(finding(specification) == .met, "\(specification) of \(kind)")
        }
        #expect(finding("RFC 7395") == .unseen && finding("XEP-0368") == .unseen && finding("XEP-0363") != .unseen)
        await server.stop()
    }
}
