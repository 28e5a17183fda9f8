// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import XMPPCore
import XMPPProtocol
import XMPPXML

@testable import XMPP

@Suite("Hostile stanzas in a session, whole, cut and in chunks", .serialized)
struct SessionVectorTests {
    static var rows: [VectorRow] { get throws { try VectorTable.session(["bound"]) } }

    /// Runs a row in every way, and says what the outcome is.
    private func run(_ row: VectorRow, inPieces: Bool) async throws -> SessionRun.Outcome {
        let configuration = try SessionRun.configuration()
        let first = try await SessionRun(from: configuration)
        let bytes = try row.bytes(first.ids)
        let whole = await first.receive([bytes[...]])
        await first.end()
        let ways = inPieces ? bytes.cuts() : []
        try await withThrowingTaskGroup { group in
            for worker in 0..<Self.workers {
                group.addTask {
                    for way in stride(from: worker, to: ways.count, by: Self.workers) {
                        let pieces = ways[way]
                        let session = try await SessionRun(from: configuration)
                        #expect(session.ids == first.ids)
                        let outcome = await session.receive(pieces)
                        await session.end()
                        #expect(outcome == whole, "in \(pieces.count) pieces, the first of \(pieces[0].count) bytes")
                        guard outcome == whole else { return }
                    }
                }
            }
            try await group.waitForAll()
        }
        return whole
    }

    /// How many sessions are run at once.
    private static let workers = 4

    @Test("a sender is believed only where it may speak (RFC 6120 §8.1.2.1, RFC 6121 §2.1.6)", arguments: try rows)
    func session(row: VectorRow) async throws {
        let isPending = try VectorTable.pending[row.file] != nil
        let outcome = try await run(row, inPieces: !isPending)
        let stanzas = try Self.stanzas(in: row.bytes())
        #expect(outcome.handled == UInt32(stanzas.count), "every stanza counts, whatever becomes of it (XEP-0198 §4)")
        var judged = outcome
        // An error without an id is told as what it is, an error; that it is no carbon is what counts.
        if row.file == "b-carbon-error.xml" { judged.bounced = [] }
        let isMet =
            row.outcomes.contains { Self.isMet($0, judged, stanzas) } && Self.isMetInDetail(row.file, outcome)
        if isPending {
            #expect(!isMet, "this row is met: it can leave the list of those that wait for a feature")
        } else {
            #expect(isMet, "\(outcome)")
        }
    }

    @Test("what follows <success/> in the same read belongs to the next stream (RFC 6120 §6.3.5)")
    func byteExact() async throws {
        let session = try await SessionRun(isEager: true)
        #expect(await session.stream.isEstablished)
        await session.end()
    }

    private static func stanzas(in bytes: [UInt8]) throws -> [Element] {
        let parser = XMLStreamParser()
        let outcome = parser.feed((MachineRun.header + bytes)[...], .batch)
        return outcome.events.compactMap { event in
            if case .element(let element) = event, StreamManagement.isStanza(element) { element } else { nil }
        }
    }

    // MARK: Judging

    /// Nothing happened but what the row names.
    private static func isQuiet(_ outcome: SessionRun.Outcome, except name: String? = nil) -> Bool {
        outcome.isOnline && outcome.messages.isEmpty && outcome.bounced.isEmpty && outcome.receipts.isEmpty
            && outcome.carbons.isEmpty && outcome.displayed.isEmpty && outcome.invitations.isEmpty
            && outcome.subscriptionRequests.isEmpty && outcome.rosterChanges.isEmpty && outcome.sent.isEmpty
            && outcome.buddies.isEmpty && outcome.archived.isEmpty
            && outcome.requests.allSatisfy { $0.key == name || $0.value == "open" }
    }

    private static func isMet(_ expected: String, _ outcome: SessionRun.Outcome, _ stanzas: [Element]) -> Bool {
        let parts = expected.split(separator: ":", maxSplits: 1).map(String.init)
        var rest = outcome
        switch parts[0] {
        case "ignore":
            return isQuiet(outcome, except: "MAMID")
        case "continue":
            return outcome.isOnline
        case "deliver":
            rest.messages = []
            rest.carbons = []
            // A receipt for a contact who asks is no noise.
            rest.sent = outcome.sent.filter { (try? Message($0))?.receivedReceiptID == nil }
            return outcome.messages.count + outcome.carbons.count == Int(parts[1]) && isQuiet(rest)
        case "archive":
            rest.archived = []
            return outcome.archived.count == Int(parts[1]) && isQuiet(rest)
        case "reply":
            rest.sent = []
            guard outcome.sent.count == 1, isQuiet(rest), let reply = try? IQ(outcome.sent[0]) else { return false }
            return reply.error?.condition.rawValue == parts[1] && reply.id != nil
                && reply.id == stanzas[0]["id"] && reply.element["to"] == stanzas[0]["from"]
        case "iq":
            let settled = outcome.requests.filter { $0.value != "open" }
            guard settled.count == 1, let (name, state) = settled.first else { return false }
            return (state == "done") == (parts[1] == "done") && isQuiet(outcome, except: name)
        case "roster":
            rest.rosterChanges = []
            rest.sent = []
            let isAcknowledged = outcome.sent.count == 1 && (try? IQ(outcome.sent[0]))?.kind == .result
            return outcome.rosterChanges.count == 1 && isAcknowledged && isQuiet(rest)
        case "surface" where parts[1] == "invite":
            rest.invitations = []
            return outcome.invitations.count == 1 && isQuiet(rest)
        case "surface" where parts[1] == "subscribe":
            rest.subscriptionRequests = []
            return outcome.subscriptionRequests.count == 1 && isQuiet(rest)
        default:
            return false
        }
    }

    /// What a row says beyond its outcome.
    private static func isMetInDetail(_ file: String, _ outcome: SessionRun.Outcome) -> Bool {
        let body = outcome.messages.first?.body
        let from = outcome.messages.first?.from?.description
        switch file {
        case "b-message-error-echo.xml":
            return outcome.bounced.count == 1 && outcome.messages.isEmpty
        case "b-message-body-markup.xml": return body == "ad"
        case "b-message-no-from.xml": return from == "romeo@example.net"
        case "b-message-bad-type.xml": return outcome.messages.first?.kind == .normal
        case "b-message-bad-from.xml": return body == "next"
        case "b-forwarded-from-contact.xml": return from?.hasPrefix("juliet@example.com") == true
        case "b-presence-priority.xml":
            return outcome.buddies == ["juliet@example.com": ["b": 0, "c": 0]]
        case "b-presence-muc-nick-c1.xml", "b-presence-muc-nick-bidi.xml":
            return outcome.presences.isEmpty
        case "b-presence-error-same-id.xml", "b-message-no-body-empty.xml", "b-correct-cycle.xml":
            return outcome.requests.values.allSatisfy { $0 == "open" }
        case "b-roster-bad-jid.xml": return outcome.rosterChanges.isEmpty
        case "b-roster-contact.xml", "b-roster-server-domain.xml", "b-roster-two-items.xml":
            return outcome.rosterChanges.isEmpty
        case "b-subscribe-stranger.xml", "b-subscribe-full-jid.xml":
            return outcome.subscriptionRequests.map(\.description) == ["mallory@evil.example"]
        case "b-iq-error-no-error-child.xml": return outcome.requests["IQID1"] == "undefined-condition"
        case "b-mam-ok.xml": return outcome.archived.map(\.id) == ["a1"]
        case "b-mam-nested-carbon.xml":
            let message = outcome.archived.first?.message
            return message?.body == nil && message?.from?.description == "mallory@evil.example/x"
        case "b-mam-unsolicited-after-fin.xml": return outcome.requests["MAMID"] == "done"
        case "b-receipt-request-contact.xml": return outcome.sent.count == 1
        case "b-receipt-request-stranger.xml", "b-receipt-in-carbon.xml": return outcome.sent.isEmpty
        case "b-carbon-ok-sent.xml": return outcome.carbons.first?.direction == .sent
        case "b-carbon-case.xml": return outcome.carbons.first?.message.body == "carbon"
        case "b-same-id-two-senders.xml": return outcome.messages.map(\.body) == ["one", "two"]
        case "b-term-tab.xml": return body == "a\tb"
        case "b-term-c1-csi.xml": return body == "\u{9B}31mred\u{9B}0m"
        case "b-term-lsep.xml": return body == "a\u{2028}b\u{2029}c"
        case let file where file.hasPrefix("b-delay-"): return isDelayUsable(file, outcome)
        default: return true
        }
    }

    private static let arrival = DateTime(millisecondsSinceEpoch: 1_700_000_000_000)

    /// A stamp that is none is none; one that is one is kept as the claim that it is (XEP-0203, XEP-0082). One in the
    /// future is not believed: the message counts as sent when it arrived, so that it stands before nothing that comes
    /// later.
    private static func isDelayUsable(_ file: String, _ outcome: SessionRun.Outcome) -> Bool {
        let delay = outcome.messages.first?.delay
        return switch file {
        case "b-delay-foreign-from.xml": delay?.from?.description == "mallory@evil.example"
        case "b-delay-future.xml":
            delay?.stamp == DateTime("2099-01-01T00:00:00Z")
                && outcome.messages.first?.sentAt(arrival: Self.arrival) == Self.arrival
        case "b-delay-leap.xml": delay?.stamp == DateTime("2017-01-01T00:00:00Z")
        default: delay == nil && outcome.messages.first?.sentAt(arrival: Self.arrival) == Self.arrival
        }
    }
}
