// SPDX-License-Identifier: Apache-2.0

public import XMPPCore

extension Message {
    /// What the sender does, where the text begins with `/me ` (XEP-0245): to be shown behind the sender's name, and
    /// not as something said; `nil` where it does not.
    public var action: String? { body.flatMap { Self.action(in: $0) } }

    /// The rest of a text that begins with `/me `.
    static func action(in text: String) -> String? {
        text.utf8.starts(with: "/me ".utf8) ? String(text.unicodeScalars.dropFirst(4)) : nil
    }
}
