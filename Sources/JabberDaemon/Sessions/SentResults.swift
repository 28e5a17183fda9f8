// SPDX-License-Identifier: Apache-2.0

internal import JabberControl
internal import XMPP

/// The messages that were sent under an id of the caller's choice: the same id twice is one message.
struct SentResults: Sendable {
    /// How many are remembered.
    static let maximumCount = 1_000

    /// One message, and how far it came.
    struct Key: Hashable, Sendable {
        let id: String
        let to: JID
    }

    private var results = LatestEntries<Key, Task<JSONObject, Never>>(maximumCount: maximumCount)

    /// The message that was sent before; it may be on its way still.
    subscript(_ key: Key) -> Task<JSONObject, Never>? { results[key] }

    /// Notes a message that is being sent.
    mutating func note(_ key: Key, _ result: Task<JSONObject, Never>) {
        results.store(result, for: key)
    }

    /// Forgets a message that did not leave: it may be tried again.
    mutating func forget(_ key: Key) {
        results.forget(key)
    }
}
