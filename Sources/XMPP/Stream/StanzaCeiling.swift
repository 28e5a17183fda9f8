// SPDX-License-Identifier: Apache-2.0

internal import SocketIO

/// How large a stanza the server was seen to take, where it does not say so (XEP-0478): shared by the copies of a
/// configuration, so that what has cost one connection does not cost the next.
final class StanzaCeiling: Sendable {
    private let bytes = Locked<Int?>(nil)

    /// The most bytes that a stanza may have; `nil` where none was refused.
    var maximumBytes: Int? { bytes.withLock { $0 } }

    /// The server has ended a stream over a stanza of so many bytes.
    func refused(_ count: Int) {
        bytes.withLock { $0 = min($0 ?? .max, count - 1) }
    }
}

extension XMPPStream {
    /// How many bytes an answer may have that is made here; 10,000, which every server takes (RFC 6120 §13.12). It is
    /// longer only because of what the asker has put into it, such as an id: sent, it would cost the stream.
    static let maximumAnswerBytes = 10_000

    /// How many bytes of a stanza the server takes, as far as is known.
    var maximumOutgoingBytes: Int? {
        [machine.maximumOutgoingBytes, configuration.stanzaCeiling.maximumBytes].compactMap { $0 }.min()
    }
}
