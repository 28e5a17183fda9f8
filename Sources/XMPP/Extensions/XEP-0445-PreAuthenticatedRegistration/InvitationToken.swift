// SPDX-License-Identifier: Apache-2.0

public import XMPPCore
public import XMPPXML

/// What proves that somebody was invited: to make an account (XEP-0445), or to be taken as a contact (XEP-0379).
public struct InvitationToken: StanzaPayload, Hashable {
    /// The namespace of such proofs.
    public static let namespace = "urn:xmpp:pars:0"
    /// The name of the `<preauth/>` element.
    public static let elementName = ElementName("preauth", namespace: namespace)
    /// How many bytes one may have; 1,024.
    public static let maximumBytes = 1_024

    /// The token: printable ASCII without spaces.
    public let text: String

    /// Takes a token; `nil` when it is empty, too long, or no printable ASCII.
    public init?(_ text: String) {
        guard (1...Self.maximumBytes).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        self.text = text
    }

    /// Reads a `<preauth/>` element; `nil` when its token is missing or none (XEP-0379 §4.1: it is passed over then).
    public init?(_ element: Element) {
        guard element.name == Self.elementName, let text = element["token"] else { return nil }
        self.init(text)
    }

    /// The `<preauth/>` element.
    public var element: Element { Element(Self.elementName, attributes: ["token": text]) }
}

extension InvitationToken: CustomStringConvertible, CustomDebugStringConvertible {
    /// Says that there is a token, not which.
    public var description: String { "(token)" }

    /// Says that there is a token, not which.
    public var debugDescription: String { description }
}
