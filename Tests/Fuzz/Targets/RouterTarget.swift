// SPDX-License-Identifier: Apache-2.0

import Dispatch
import SocketIO
import XMPPCore
import XMPPCrypto

@testable import XMPP
@testable import XMPPProtocol
@testable import XMPPXML

extension FuzzTarget {
    /// Stanzas, one on each line, for an established session whose roster has one friend: what is answered, and to
    /// whom; who may change the roster; what is told without a sender.
    static let router = FuzzTarget(
        name: "router",
        seeds: {
            let pairs = zip(stanzas, stanzas.dropFirst(5) + stanzas.prefix(5)).map { "\($0)\n\($1)" }
            return (stanzas + pairs).map { Array($0.utf8) }
        }
    ) { bytes in
        _ = try RoutedSession.route(bytes)
    }
}

/// What a session has made of what it was given: tells whether stanzas come as far as that.
struct RoutedTally: Hashable, Sendable {
    /// Stanzas that were routed.
    var stanzas = 0
    /// Those that were answered.
    var answers = 0
    /// What was told of them.
    var events = 0
    /// How often the roster has changed.
    var rosterChanges = 0
    /// Requests of this side that were answered.
    var results = 0
}

/// A stream without a network whose session is established.
enum RoutedSession {
    /// Stanzas of an input at most: what chance makes of more teaches nothing new, and takes its time.
    private static let maximumStanzas = 8
    private static let account = "romeo@example.net"
    private static let friend = "friend@example.org"
    /// What every session begins with; the machine is a value.
    private static let beginning: Result<(StreamStateMachine, XMPPConfiguration), any Error> = Result {
        try (MachineRun.establishedMachine(), configuration())
    }

    private static func configuration() throws -> XMPPConfiguration {
        var configuration = XMPPConfiguration(jid: try JID(account), password: "secret")
        configuration.random = CountingRandom()
        return configuration
    }

    /// Gives an established session the stanzas of an input, and holds what it does against the rules.
    static func route(_ input: [UInt8]) throws -> RoutedTally {
        let (machine, configuration) = try beginning.get()
        let elements = input.split(separator: 0x0A).lazy.filter { $0.first == UInt8(ascii: "<") }
            .prefix(maximumStanzas).compactMap { try? Element.parse($0) }.filter(StreamManagement.isStanza)
        let stanzas = Array(elements)
        guard !stanzas.isEmpty else { return RoutedTally() }
        let stream = XMPPStream(configuration)
        return try stream.executor.queue.sync {
            try stream.assumeIsolated { stream in
                try establish(stream, machine)
                var tally = RoutedTally()
                for element in stanzas { try check(element, on: stream, &tally) }
                return tally
            }
        }
    }

    private static func establish(_ stream: isolated XMPPStream, _ machine: StreamStateMachine) throws {
        stream.machine = machine
        let jid = try JID("\(account)/orchard")
        stream.occurred(
            .established(
                EstablishedSession(jid: jid, features: StreamFeatures(Element("features", namespace: "")))))
        let items = [
            RosterItem(jid: try JID(friend), subscription: .both),
            RosterItem(jid: try JID("fan@y"), subscription: .none),
        ]
        _ = stream.tracker.received(.received(items, version: nil))
        _ = stream.requests.sending(id: "request", to: try JID("\(friend)/r"))
        stream.endTurn()
    }

    /// Gives the stream a stanza and looks at what it makes of it.
    private static func check(
        _ element: Element, on stream: isolated XMPPStream, _ tally: inout RoutedTally
    ) throws {
        let rosterBefore = Set(stream.contacts ?? [])
        let wasOpen = stream.requests.isOpen(id: "request")
        stream.route(element)
        let written = stream.outgoing
        let events = stream.deliveries.map(\.event)
        stream.endTurn()
        tally.stanzas += 1
        tally.answers += written.isEmpty ? 0 : 1
        tally.events += events.count
        try checkAnswers(written, to: element, contacts: rosterBefore)
        let sender = try? element.jid("from")
        let own = try JID(account)
        let isOwn = sender == nil || sender == own
        if Set(stream.contacts ?? []) != rosterBefore {
            tally.rosterChanges += 1
            try require(isOwn && element["type"] == "set", "the roster was changed by \(element)")
        }
        if wasOpen, !stream.requests.isOpen(id: "request") {
            tally.results += 1
            try require(sender?.description == "\(friend)/r", "a request was answered by \(element)")
        }
        for event in events {
            switch event {
            case .message(let message): try require(message.from != nil, "a message of nobody: \(element)")
            case .presence(let presence), .subscriptionRequest(let presence):
                try require(presence.from != nil, "a presence of nobody: \(element)")
            default: break
            }
        }
    }

    /// Only requests are answered, once, to who asked; a stranger gets errors alone (RFC 6120 §8.2.3, §8.3.1).
    private static func checkAnswers(_ written: [UInt8], to element: Element, contacts: Set<RosterItem>) throws {
        guard !written.isEmpty else { return }
        if element.localName == "message" {
            let receipt = try mustNotThrow("not one answer to \(element)") { try Message(Element.parse(written)) }
            let sender = try element.jid("from")
            let own = try JID(account)
            let isContact = contacts.contains { $0.jid == sender?.bare && $0.subscription.includesFrom }
            try require(
                sender?.bare == own || sender == own.domain || sender == nil || isContact,
                "a stranger got a receipt for \(element)")
            try require(element["type"] != "error" && element["type"] != "groupchat", "a receipt for \(element)")
            try require(receipt.receivedReceiptID == element["id"], "a receipt of something else than \(element)")
            return
        }
        try require(element.localName == "iq", "\(element) was answered")
        try require(element["type"] != "result" && element["type"] != "error", "an answer was answered: \(element)")
        let answer = try mustNotThrow("not one answer to \(element)") { try IQ(Element.parse(written)) }
        try require(answer.kind == .result || answer.kind == .error, "\(element) was answered by a request")
        try require(answer.id == element["id"], "the answer has another id than \(element)")
        let sender = try element.jid("from")
        try require(answer.to == sender, "the answer goes elsewhere than \(element)")
        guard let sender, answer.kind == .result else { return }
        let own = try JID(account)
        let isContact = contacts.contains { $0.jid == sender.bare && $0.subscription.includesFrom }
        try require(sender.bare == own || sender == own.domain || isContact, "a stranger got an answer to \(element)")
    }
}

/// Counts upwards: ids and nonces are the same in every run.
struct CountingRandom: RandomSource {
    func bytes(_ count: Int) -> [UInt8] { (0..<max(0, count)).map { UInt8($0 % 251) } }
}
