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

/// Writes elements for the log, with everything masked that proves who somebody is.
enum WireLog {
    /// Elements whose text is part of an authentication.
    private static let secretTexts: [String: Set<String>] = [
        Namespace.sasl: ["auth", "challenge", "response", "success"],
        Namespace.sasl2: ["initial-response", "challenge", "response", "additional-data", "task-data", "parameters"],
    ]
    /// Attributes that are as good as a password, by the namespace of their element.
    private static let secretAttributes: [String: [String]] = [
        Namespace.streamManagement: ["id", "previd"], Namespace.fast: ["token"],
    ]

    /// An element as the log shows it.
    static func describe(_ element: Element) -> String {
        masked(element, isSecret: false).description
    }

    private static func masked(_ element: Element, isSecret: Bool) -> Element {
        let isSecret = isSecret || secretTexts[element.namespace]?.contains(element.localName) == true
        var masked = element
        for name in secretAttributes[element.namespace] ?? [] where element[name] != nil { masked[name] = "(masked)" }
        guard isSecret || Self.mayHoldSecrets(element) else { return masked }
        masked.removeContent()
        for child in element.children { masked.append(Self.masked(child, isSecret: isSecret)) }
        if !element.text.isEmpty { masked.append(text: isSecret ? "(masked)" : element.text) }
        return masked
    }

    /// Whether the inside has to be looked at: stanzas are written as they are.
    private static func mayHoldSecrets(_ element: Element) -> Bool {
        element.namespace == Namespace.sasl2 || element.namespace == Namespace.bind2
    }
}
