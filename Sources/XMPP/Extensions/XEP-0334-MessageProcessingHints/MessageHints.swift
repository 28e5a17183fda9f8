// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
internal import XMPPXML

/// What the sender asks servers to do with a message (XEP-0334).
public struct MessageHints: OptionSet, Sendable, Hashable {
    /// The namespace of hints.
    public static let namespace = "urn:xmpp:hints"

    /// One bit for each hint.
    public let rawValue: Int

    /// Takes bits over.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Not to be kept in an archive.
    public static let noPermanentStore = MessageHints(rawValue: 1)
    /// Not to be kept at all, not even for later delivery.
    public static let noStore = MessageHints(rawValue: 2)
    /// Not to be copied to other clients.
    public static let noCopy = MessageHints(rawValue: 4)
    /// To be kept though it has no body.
    public static let store = MessageHints(rawValue: 8)

    static let names: [(hint: MessageHints, name: String)] = [
        (.noPermanentStore, "no-permanent-store"), (.noStore, "no-store"), (.noCopy, "no-copy"), (.store, "store"),
    ]
}

extension Message {
    /// What the sender asks servers to do with the message.
    public var hints: MessageHints {
        get {
            var hints: MessageHints = []
            for case .element(let child) in element.nodes where child.namespace == MessageHints.namespace {
                if let known = MessageHints.names.first(where: { $0.name == child.localName }) {
                    hints.insert(known.hint)
                }
            }
            return hints
        }
        set {
            withElement { element in
                element.removeChildren { $0.namespace == MessageHints.namespace }
                for (hint, name) in MessageHints.names where newValue.contains(hint) {
                    element.append(Element(name, namespace: MessageHints.namespace))
                }
            }
        }
    }
}
