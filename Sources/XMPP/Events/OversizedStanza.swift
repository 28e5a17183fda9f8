// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
internal import XMPPProtocol
internal import XMPPXML

/// A stanza that was past one of the limits of a stanza and was not read: what its start tag said of it.
///
/// Anybody may have made it so large; some servers make a small one large, by writing a namespace out at each child.
public struct OversizedStanza: Sendable, Hashable, CustomStringConvertible {
    /// What kind of stanza.
    public enum Kind: String, Sendable, Hashable {
        /// A message.
        case message
        /// A presence.
        case presence
        /// A request or an answer.
        case iq
        /// Something else that a server has sent.
        case other = "element"
    }

    /// What kind of stanza.
    public var kind: Kind
    /// Its type, such as `chat` or `get`; `nil` where it named none.
    public var type: String?
    /// Who sent it; `nil` where it did not say, or said something that is no address.
    public var from: JID?
    /// Its id; `nil` where it had none, or one of more than 3,071 bytes.
    public var id: String?
    /// How many bytes it had.
    public var bytes: Int

    /// Makes one.
    public init(_ kind: Kind, type: String? = nil, from: JID? = nil, id: String? = nil, bytes: Int) {
        self.kind = kind
        self.type = type
        self.from = from
        self.id = id
        self.bytes = bytes
    }

    /// What is known of an element.
    init(_ element: PassedOverElement) {
        let isStanza = StreamManagement.isStanza(element)
        self.init(
            isStanza ? Kind(rawValue: element.name.localName) ?? .other : .other, type: element.type,
            from: element.from.flatMap { try? JID($0) }, id: element.id, bytes: element.bytes)
    }

    /// What it was, how large, and from whom.
    public var description: String {
        "\(kind.rawValue) of \(bytes) bytes" + (from.map { " from \($0)" } ?? "")
    }
}
