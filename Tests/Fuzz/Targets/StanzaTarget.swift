// SPDX-License-Identifier: Apache-2.0

import XMPPCore
import XMPPCrypto

@testable import XMPP
@testable import XMPPXML

extension FuzzTarget {
    /// Stanzas to begin with, one for each line of the router's inputs.
    static let stanzas: [String] = [
        "<message from='a@b/c' to='d@e' type='chat' id='1' xml:lang='en'><body>hi</body><body xml:lang='de'>ja</body>"
            + "<subject>s</subject><thread>t</thread><request xmlns='urn:xmpp:receipts'/></message>",
        "<message from='a@b/c' type='error'><error type='cancel' by='b'><gone xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'>"
            + "x</gone><text xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'>t</text><x xmlns='urn:x'/></error></message>",
        "<message from='friend@example.org/r'><received xmlns='urn:xmpp:receipts' id='1'/></message>",
        "<message type='groupchat' from='r@b/n'><delay xmlns='urn:xmpp:delay' stamp='2026-01-02T03:04:05Z' from='b'/></message>",
        "<presence from='friend@example.org/r'><show>away</show><status>s</status><priority>-5</priority>"
            + "<c xmlns='http://jabber.org/protocol/caps' hash='sha-1' node='n' ver='v'/></presence>",
        "<presence from='friend@example.org/r' type='unavailable'/>", "<presence from='x@y' type='subscribe'/>",
        "<presence from='friend@example.org' type='error'/>", "<presence type='probe' from='x@y'/>",
        "<iq type='get' id='1' from='friend@example.org/r'><ping xmlns='urn:xmpp:ping'/></iq>",
        "<iq type='get' id='1' from='x@y/z'><query xmlns='jabber:iq:version'/></iq>",
        "<iq type='get' id='1' from='friend@example.org'><query xmlns='http://jabber.org/protocol/disco#info' node='n'>"
            + "<identity category='c' type='t' name='n'/><feature var='f'/></query></iq>",
        "<iq type='get' id='1'><query xmlns='http://jabber.org/protocol/disco#items'/></iq>",
        "<iq type='set' id='1' from='romeo@example.net'><query xmlns='jabber:iq:roster' ver='v'>"
            + "<item jid='friend@example.org' name='n' subscription='both' ask='subscribe' approved='true'>"
            + "<group>g</group></item></query></iq>",
        "<iq type='set' id='1' from='x@y'><query xmlns='jabber:iq:roster'><item jid='x@y' subscription='remove'/>"
            + "</query></iq>",
        "<iq type='result' id='request' from='friend@example.org/r'/>", "<iq type='error' id='request'/>",
        "<iq type='what' id='1' from='x@y'/>", "<iq type='set' from='x@y'/>",
        "<stream:error><conflict xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error>",
        "<stream:features><limits xmlns='urn:xmpp:stream-limits:0'><max-bytes>100</max-bytes></limits>"
            + "<bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'><required/></bind></stream:features>",
    ]

    /// A first-level element as every kind of stanza and payload: what can be read is written the same, and what is set
    /// is what is read.
    static let stanza = FuzzTarget(name: "stanza", seeds: { stanzas.map { Array($0.utf8) } }) { bytes in
        guard let element = try? Element.parse(bytes) else { return }
        if let message = try? Message(element) { try checkMessage(message) }
        if let presence = try? Presence(element) { try checkPresence(presence) }
        if let iq = try? IQ(element) { try checkIQ(iq) }
        try checkErrors(element)
        try checkPayloads(element)
        for child in element.children {
            try checkErrors(child)
            try checkPayloads(child)
            for grandchild in child.children { try checkRosterItem(grandchild) }
        }
    }

    private static func checkStanza<Kind: Stanza>(_ stanza: Kind) throws {
        try checkRoundTrip(stanza.element)
        var copy = stanza
        copy.from = stanza.from
        copy.to = stanza.to
        copy.language = stanza.language
        let again = try mustNotThrow("\(stanza.element) is no stanza any more") { try Kind(copy.element) }
        try require(again.from == stanza.from && again.to == stanza.to, "the addresses of \(stanza.element)")
        try require(again == copy, "\(stanza.element) is read otherwise after its addresses were set")
        if let error = stanza.error { try require(StanzaError(error.element) == error, "the error \(error)") }
        if let delay = stanza.delay, (1_000..<250_000_000_000_000).contains(delay.stamp.millisecondsSinceEpoch) {
            copy.setPayload(delay)
            try require(copy.delay == delay, "the delay of \(stanza.element)")
        }
    }

    private static func checkMessage(_ message: Message) throws {
        try checkStanza(message)
        var copy = message
        for text in ["", "a <b> & \"c\"", message.body ?? "", message.subject ?? ""] {
            copy.body = text
            copy.subject = text
            copy.thread = text
            try require([copy.body, copy.subject, copy.thread] == [text, text, text], "the texts of \(copy.element)")
        }
        copy.kind = message.kind
        try require(copy.kind == message.kind, "the type of \(message.element)")
        if let body = message.body { try require(message.bodies.values.contains(body), "bodies without the body") }
        let reply = message.reply("yes")
        try require(reply.thread == message.thread && reply.kind != .error, "the reply to \(message.element)")
        try require(reply.to?.bare == message.from?.bare, "the reply to \(message.element) goes elsewhere")
        try checkRoundTrip(reply.element)
        copy.requestsReceipt = true
        try require(copy.requestsReceipt, "no request for a receipt")
        copy.requestsReceipt = false
        try require(!copy.requestsReceipt, "a request for a receipt")
    }

    private static func checkPresence(_ presence: Presence) throws {
        try checkStanza(presence)
        var copy = presence
        copy.kind = presence.kind
        copy.show = presence.show
        copy.status = presence.status
        copy.priority = presence.priority
        try require(
            (copy.kind, copy.show, copy.status) == (presence.kind, presence.show, presence.status)
                && copy.priority == presence.priority,
            "\(presence.element) is read otherwise after it was set")
        let again = try mustNotThrow("\(copy.element) is no presence") { try Presence(copy.element) }
        try require(again == copy, "\(copy.element) is read otherwise")
    }

    private static func checkIQ(_ iq: IQ) throws {
        try checkStanza(iq)
        for answer in [iq.result(iq.payload), iq.failure(.badRequest)] {
            try require(answer.id == iq.id && answer.to == iq.from, "the answer to \(iq.element)")
            try require(!answer.kind.isRequest && answer.from == nil, "the answer to \(iq.element) is a request")
            try checkRoundTrip(answer.element)
        }
        try require(iq.failure(.badRequest).error == .badRequest, "the failure of \(iq.element)")
    }

    private static func checkErrors(_ element: Element) throws {
        let error = StanzaError(element)
        try require(StanzaError(error.element) == error, "the stanza error \(element)")
        let streamError = StreamError(element)
        try require(StreamError(streamError.element) == streamError, "the stream error \(element)")
        _ = SASLFailure(element)
        let features = StreamFeatures(element)
        try require(features.maximumStanzaBytes.map { $0 > 0 } ?? true, "a limit of no bytes in \(element)")
        try require(!features.requiresSession || element.children.count > 0, "the session of \(element)")
        try require(features.mechanisms.isEmpty || features.offersSASL, "the mechanisms of \(element)")
        _ = (features.channelBindings, features.unknownRequired)
        try checkRosterItem(element)
    }

    private static func checkPayloads(_ element: Element) throws {
        if let information = DiscoveryInformation(element) {
            let written = information.element(node: element["node"])
            try require(DiscoveryInformation(written) == information, "the information \(element)")
            try require(
                information.verificationString(using: .sha1)?.utf8.count ?? 28 == 28, "the capabilities of \(element)")
        }
        if let capabilities = EntityCapabilities(element) {
            try require(EntityCapabilities(capabilities.element) == capabilities, "the capabilities \(element)")
        }
    }

    private static func checkRosterItem(_ element: Element) throws {
        guard let change = try? RosterChange(element) else { return }
        switch change {
        case .removed(let jid): try require(jid.isBare, "a contact with a resource: \(jid)")
        case .updated(let item):
            try require(item.jid.isBare, "a contact with a resource: \(item.jid)")
            try require(item.groups == Set(item.groups).sorted(), "the groups \(item.groups)")
            try require(!item.groups.contains("") && !item.displayName.isEmpty, "a nameless group or contact")
        }
    }
}
