// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
public import XMPPXML

/// Why somebody is blocked, for the operator of the server (XEP-0377).
public struct AbuseReport: StanzaPayload, Hashable {
    /// The namespace of reports.
    public static let namespace = "urn:xmpp:reporting:1"
    /// The name of the `<report/>` element.
    public static let elementName = ElementName("report", namespace: namespace)

    /// Why somebody is reported.
    public struct Reason: RawRepresentable, Sendable, Hashable {
        /// The URI on the wire.
        public let rawValue: String

        /// Takes a URI from the wire.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Messages that nobody wants.
        public static let spam = Reason(rawValue: "urn:xmpp:reporting:spam")
        /// Abuse in general.
        public static let abuse = Reason(rawValue: "urn:xmpp:reporting:abuse")
    }

    /// Why.
    public var reason: Reason
    /// More, in the user's words.
    public var text: String?
    /// The messages that it is about, by the ids that the own account has given them.
    public var messages: [StanzaID]

    /// Makes a report.
    public init(_ reason: Reason, text: String? = nil, messages: [StanzaID] = []) {
        self.reason = reason
        self.text = text
        self.messages = messages
    }

    /// Reads a `<report/>` element; `nil` when it gives no reason.
    public init?(_ element: Element) {
        guard element.name == Self.elementName, let reason = element["reason"], !reason.isEmpty else { return nil }
        self.init(
            Reason(rawValue: reason), text: element.firstChild("text", namespace: Self.namespace)?.text,
            messages: element.children.compactMap(StanzaID.init))
    }

    /// The `<report/>` element.
    public var element: Element {
        var report = Element(Self.elementName, attributes: ["reason": reason.rawValue])
        report.append(contentsOf: messages.lazy.map(\.element))
        if let text { report.append(Element("text", namespace: Self.namespace, text: text)) }
        return report
    }
}
