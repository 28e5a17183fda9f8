// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import XMPPCore
import XMPPCrypto
import XMPPProtocol
import XMPPXML

@testable import XMPP

@Suite("Hostile streams through parser and machine, whole, cut at every byte and in chunks", .serialized)
struct MachineVectorTests {
    static func rows(_ phases: String...) throws -> [VectorRow] {
        let pending = try VectorTable.pending
        return try VectorTable.session(Set(phases)).filter { pending[$0.file] == nil }
    }

    /// Runs a row whole and in pieces.
    ///
    /// - Parameter finish: What happens behind the bytes.
    /// - Returns: The outcome, which is the same for all pieces.
    private func run(
        _ row: VectorRow, _ bytes: [UInt8], finish: (inout MachineRun) -> Void = { _ in }
    ) throws -> MachineRun.Outcome {
        let start = try MachineRun.at(row)
        let bringsHeader = row.phase == "parser" || bytes.starts(with: Array("<?xml".utf8))
        var whole = start.reading([bytes[...]], bringsHeader: bringsHeader)
        finish(&whole)
        for pieces in bytes.cuts() {
            var other = start.reading(pieces, bringsHeader: bringsHeader)
            finish(&other)
            #expect(other.outcome == whole.outcome, "in \(pieces.count) pieces, the first of \(pieces[0].count) bytes")
            if other.outcome != whole.outcome { break }
        }
        return whole.outcome
    }

    @Test("a stream is refused, given up or delivered (RFC 6120 §4.7, §4.9, §11)", arguments: try VectorTable.parser)
    func parser(row: VectorRow) throws {
        // The files take a session for granted: theirs is established by the features and the answer behind them.
        var bytes = try row.bytes()
        for prefix in ["stream:", "s:", ""] {
            let session = "<\(prefix)features><bind xmlns='\(Namespace.bind)'/></\(prefix)features>" + MachineRun.bound
            bytes = bytes.replacing(Array("<\(prefix)features/>".utf8), with: Array(session.utf8))
        }
        let outcome = try run(row, bytes) { run in
            if row.outcomes == ["abort"] { run.readEnd() }
        }
        expect(row, outcome)
    }

    @Test("nothing secret leaves before TLS (RFC 6120 §5, RFC 7590 §3.1)", arguments: try rows("pre-tls"))
    func beforeTLS(row: VectorRow) throws {
        let outcome = try run(row, try row.bytes())
        expect(row, outcome)
        #expect(!outcome.elements.contains { $0.namespace == Namespace.sasl })
        #expect(outcome.stanzas.isEmpty)
        #expect(outcome.elements.filter { $0.localName == "starttls" }.count <= 1)
        #expect(outcome.headers.isEmpty, "no second header without TLS")
        #expect(outcome.sawPlaintextForTLS == row.file.hasPrefix("t-proceed-plus"))
    }

    @Test(
        "authentication begins with a mechanism of our own order or not at all (RFC 6120 §6.3.3)",
        arguments: try rows("post-tls"))
    func afterTLS(row: VectorRow) throws {
        let outcome = try run(row, try row.bytes()) { run in
            if row.file == "t-no-features.xml" { run.fire(.negotiation) }
        }
        expect(row, outcome)
        if row.file == "t-mech-order.xml" {
            #expect(outcome.elements.first?["mechanism"] == "SCRAM-SHA-512")
        } else {
            #expect(!outcome.sentCredentials)
        }
    }

    @Test(
        "a challenge that is none ends the exchange (RFC 6120 §6.4, §13.9.1, RFC 5802 §5)",
        arguments: try rows("sasl"))
    func authenticating(row: VectorRow) throws {
        let outcome = try run(row, try row.bytes())
        #expect(outcome.stanzas.isEmpty)
        switch row.file {
        case "t-sasl-failure-temporary.xml":
            // The account stays as it is: the next attempt is due later (RFC 6120 §6.5.11).
            let error = outcome.end.flatMap { XMPPError($0, domain: "example.net") }
            #expect(error?.code == .authenticationDeferred && error?.isPermanent == false)
            #expect(!outcome.sentCredentials)
        case "t-sasl-failure-not-authorized.xml":
            let error = outcome.end.flatMap { XMPPError($0, domain: "example.net") }
            #expect(error?.code == .authenticationRefused && error?.isPermanent == true, "nobody tries again")
            #expect(!outcome.sentCredentials, "one attempt")
        case "t-sasl-abort-mech-fallback.xml":
            expect(row, outcome)
            #expect(outcome.elements.map { $0["mechanism"] } == ["SCRAM-SHA-256"])
        default:
            expect(row, outcome)
            #expect(!outcome.sentCredentials)
        }
    }

    @Test(
        "a challenge counts in its own namespace and without elements in it (RFC 6120 §6.4.3, A.4)",
        arguments: [
            ("urn:ietf:params:xml:ns:xmpp-sasl", "", true), ("urn:xmpp:sasl:2", "", false),
            ("jabber:client", "", false), ("urn:ietf:params:xml:ns:xmpp-sasl", "<x/>", false),
        ])
    func challenge(namespace: String, child: String, isAnswered: Bool) throws {
        let row = try #require(try VectorTable.session.first { $0.phase == "sasl" })
        let first = "r=\(FixedRandom().identifier())more,s=QSXCR+Q6sek8bf92,i=4096"
        let data = Base64.encode(Array(first.utf8))
        let outcome = try MachineRun.at(row).reading(
            [Array("<challenge xmlns='\(namespace)'>\(child)\(data)</challenge>".utf8)[...]], bringsHeader: false
        ).outcome
        #expect(outcome.elements.map(\.localName) == [isAnswered ? "response" : "abort"])
        #expect((outcome.end == nil) == isAnswered)
    }

    @Test(
        "an exchange of SASL2 ends with the identity that was asked for, or not at all (XEP-0388 §2.6)",
        arguments: try rows("sasl2"))
    func authenticatingExtensibly(row: VectorRow) throws {
        let start = try MachineRun.at(row)
        let outcome = try run(row, try row.bytes(["V": start.verifier]))
        expect(row, outcome)
        #expect(!outcome.sentCredentials)
        #expect(outcome.tokens.isEmpty, "one that has ended is none")
        if row.file == "t-sasl2-resumed-and-bound.xml" {
            #expect(outcome.elements.map(\.localName) == ["message", "r"], "the third one, once")
            #expect(outcome.management.handled == 2)
        }
    }

    @Test("the resource is the one that our own server bound (RFC 6120 §7)", arguments: try rows("post-sasl"))
    func binding(row: VectorRow) throws {
        let outcome = try run(row, try row.bytes(["IQID1": FixedRandom().identifier()]))
        expect(row, outcome)
        let requests = outcome.elements.filter { $0.firstChild("bind", namespace: Namespace.bind) != nil }
        switch row.file {
        case "t-bind-conflict.xml":
            #expect(requests.count == 1, "asked once more")
            #expect(requests.first?.children.first?.children.isEmpty == true, "for a resource of the server's making")
        case "t-compressed-unsolicited.xml", "t-compression-offered.xml", "t-session-legacy.xml":
            #expect(requests.count == 1 && outcome.elements.count == 1)
        default:
            #expect(requests.isEmpty)
        }
    }

    @Test("a session request follows where the server insists (RFC 3921 §3)")
    func legacySession() throws {
        let row = try #require(try VectorTable.session.first { $0.file == "t-session-legacy.xml" })
        let bytes = try row.bytes() + Array(MachineRun.bound.utf8)
        let outcome = try run(row, bytes)
        #expect(outcome.elements.count == 2)
        #expect(outcome.elements.last?.firstChild("session", namespace: Namespace.session) != nil)
    }

    @Test("acknowledgements count stanzas and nothing else (XEP-0198 §4)", arguments: try rows("sm"))
    func acknowledgements(row: VectorRow) throws {
        let outcome = try run(row, try row.bytes()) { run in
            if row.file == "s-eof-mid-stanza.xml" { run.readEnd() }
        }
        expect(row, outcome)
        let management = outcome.management
        switch row.file {
        case "s-a-too-high.xml":
            let condition = outcome.elements.first?.firstChild(
                "handled-count-too-high", namespace: Namespace.streamManagement)
            #expect(condition?["h"] == "4" && condition?["send-count"] == "3")
        case "s-a-ok-partial.xml": #expect(management.unacknowledged == 1)
        case "s-a-junk-h.xml", "s-a-negative-h.xml": #expect(management.unacknowledged == 2)
        case "s-wrap.xml": #expect(management.unacknowledged == 0 && management.acknowledged == 1)
        case "s-enabled-twice.xml":
            #expect((management.sent, management.acknowledged, management.handled) == (3, 1, 2))
        case "s-resumed-ok.xml":
            #expect(outcome.elements.map(\.localName) == ["message", "r"], "the third one, once")
            #expect((management.sent, management.acknowledged, management.handled) == (3, 2, 2))
        case "s-failed-no-condition.xml", "s-failed-unknown-condition.xml":
            #expect(outcome.elements.count == 1 && isReply(outcome.elements[0], "bind"))
        case "s-failed-enable.xml": #expect(!management.isOn)
        case "s-enabled-location-evil.xml", "s-enabled-id-5000.xml": #expect(management.isOn)
        case "s-eof-mid-stanza.xml": #expect(management.handled == 2 && outcome.stanzas.isEmpty)
        case "s-r-flood.xml":
            #expect(!outcome.elements.isEmpty && outcome.elements.allSatisfy { $0.localName == "a" })
        default: break
        }
    }

    @Test("stanzas of a session come out whole and once, and end nothing", arguments: try rows("bound"))
    func session(row: VectorRow) throws {
        let outcome = try run(row, try row.bytes())
        #expect(outcome.end == nil && outcome.sent.isEmpty)
        #expect(!outcome.stanzas.isEmpty)
    }

    // MARK: Judging

    private func expect(_ row: VectorRow, _ outcome: MachineRun.Outcome) {
        #expect(row.outcomes.contains { isMet($0, outcome) }, "\(outcome)")
    }

    private func isMet(_ expected: String, _ outcome: MachineRun.Outcome) -> Bool {
        let parts = expected.split(separator: ":", maxSplits: 1).map(String.init)
        switch parts[0] {
        case "close":
            guard case .violation(let error)? = outcome.end else { return false }
            // The error, the end of the stream, and nothing more (RFC 6120 §4.9.1.1).
            let isLast = outcome.sent.count >= 2 && outcome.sent.last == .some(nil)
            return isLast && outcome.sent[outcome.sent.count - 2] == error.element
                && error.condition.rawValue == parts[1]
        case "abort":
            return outcome.end != nil && outcome.stanzas.isEmpty
        case "deliver":
            if case .violation? = outcome.end { return false }
            return outcome.messages.count == Int(parts[1])
        case "ignore":
            return outcome.end == nil && outcome.stanzas.isEmpty
                && outcome.elements.allSatisfy { $0.localName == "iq" }
        case "continue":
            return outcome.end == nil
        case "reply":
            return outcome.end == nil && outcome.elements.last.map { isReply($0, parts[1]) } == true
        default:
            return false
        }
    }

    private func isReply(_ element: Element, _ name: String) -> Bool {
        switch name {
        case "bind": element.firstChild("bind", namespace: Namespace.bind) != nil
        case "starttls": element.isNamed("starttls", namespace: Namespace.startTLS)
        case "auth": element.isNamed("auth", namespace: Namespace.sasl)
        default: "\(element.localName):\(element["h"] ?? "")" == name
        }
    }
}
