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
    /// An element as the log shows it.
    static func describe(_ element: Element) -> String {
        if element.namespace == Namespace.sasl, element.localName != "mechanisms", element.localName != "failure" {
            var masked = Element(element.localName, namespace: element.namespace)
            masked["mechanism"] = element["mechanism"]
            masked.append(text: element.text.isEmpty ? "" : "(masked)")
            return masked.description
        }
        var masked = element
        if element.namespace == Namespace.streamManagement, element["id"] != nil { masked["id"] = "(masked)" }
        return masked.description
    }
}
