// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
public import XMPPXML

/// For how long somebody has been away, a user offline, or a server running (XEP-0012).
///
/// This client asks and does not answer: how long a user is idle is told by presence to those who may know
/// (``XMPPCore/Presence/idleSince``).
public struct LastActivity: StanzaPayload, Hashable {
    /// The namespace of requests and answers.
    public static let namespace = "jabber:iq:last"
    /// The name of the `<query/>` element.
    public static let elementName = ElementName("query", namespace: namespace)

    /// How long ago, in whole seconds: of a full address, since its user did something; of a contact's bare address,
    /// since it went offline; of a server, since it started.
    public var elapsed: Duration
    /// The text that a contact went offline with.
    public var status: String?

    /// Makes an answer.
    public init(elapsed: Duration, status: String? = nil) {
        self.elapsed = elapsed
        self.status = status
    }

    /// Reads a `<query/>` element; `nil` when it says no number of seconds, or a negative one.
    public init?(_ element: Element) {
        guard element.name == Self.elementName, let seconds = element["seconds"].flatMap({ Int64($0) }), seconds >= 0
        else { return nil }
        self.init(elapsed: .seconds(seconds), status: element.text.isEmpty ? nil : element.text)
    }

    /// The `<query/>` element.
    public var element: Element {
        var query = Element(Self.elementName, attributes: ["seconds": String(max(0, elapsed.components.seconds))])
        query.append(text: status ?? "")
        return query
    }
}

extension XMPPStream {
    /// Asks since when somebody has done nothing (XEP-0012 §4), or since when a contact is offline, or a server up.
    ///
    /// - Throws: ``XMPPError`` as ``request(_:timeout:)``; ``XMPPError/Code/stanzaError`` when the answer says nothing.
    public func lastActivity(of jid: JID) async throws(XMPPError) -> LastActivity {
        try await request(
            IQ(.get, to: jid, payload: Element(LastActivity.elementName)), expecting: LastActivity.self)
    }
}
