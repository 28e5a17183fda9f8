// SPDX-License-Identifier: Apache-2.0

internal import XMPPCore
internal import XMPPXML

/// One line of what a stream does, for diagnosis.
public struct StreamLogEntry: Sendable, Hashable, CustomStringConvertible {
    /// How much detail a line belongs to.
    public enum Level: Int, Sendable, Hashable, Comparable, CaseIterable {
        /// Steps: resolving, connecting, TLS, authentication, session, end.
        case step
        /// Every element that is sent or received, with secrets masked.
        case wire

        /// The coarser one is less.
        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    /// How much detail the line belongs to.
    public var level: Level
    /// The text. Holds what peers sent: a terminal should get it sanitised.
    public var text: String

    /// Makes an entry.
    public init(_ level: Level, _ text: String) {
        self.level = level
        self.text = text
    }

    /// The text.
    public var description: String { text }
}

/// Writes elements for the log, with everything masked that proves who somebody is or opens a door.
enum WireLog {
    /// Elements whose text is part of an authentication, or a password.
    private static let secretTexts: [String: Set<String>] = [
        Namespace.sasl: ["auth", "challenge", "response", "success"],
        Namespace.sasl2: ["initial-response", "challenge", "response", "additional-data", "task-data", "parameters"],
        MultiUserChat.namespace: ["password"], MultiUserChat.user: ["password"], MultiUserChat.owner: ["password"],
        RegistrationForm.namespace: ["password", "key"],
    ]
    /// Attributes that are as good as a password, by the namespace of their element. In SASL2 it is the id of the
    /// installation, which tokens are bound to (XEP-0484 §4.1).
    private static let secretAttributes: [String: [String]] = [
        Namespace.streamManagement: ["id", "previd"], Namespace.fast: ["token"], Namespace.sasl2: ["id"],
        RoomInvitation.namespace: ["password"], InvitationToken.namespace: ["token"],
    ]

    /// An element as the log shows it.
    static func describe(_ element: Element) -> String {
        masked(element, isSecret: false).description
    }

    private static func masked(_ element: Element, isSecret: Bool) -> Element {
        let isSecret = isSecret || secretTexts[element.namespace]?.contains(element.localName) == true
        // What is to be kept from those who look on (XEP-0004 §3.3), and addresses with the token of an invitation in
        // them (XEP-0401 §4.1): the values, not the question.
        let isPrivate =
            element.namespace == DataForm.namespace
            && (element["type"] == DataForm.Field.Kind.textPrivate.rawValue
                || element["var"].map(InvitationLink.secretFields.contains) == true)
        var masked = element
        for name in secretAttributes[element.namespace] ?? [] where element[name] != nil { masked[name] = "(masked)" }
        masked.removeContent()
        for node in element.nodes {
            switch node {
            case .element(let child):
                masked.append(Self.masked(child, isSecret: isSecret || isPrivate && child.localName == "value"))
            case .text(let text):
                masked.append(text: isSecret ? "(masked)" : text)
            }
        }
        return masked
    }
}
