// SPDX-License-Identifier: Apache-2.0

/// JIDs that were prepared lately, by the text that they were prepared from.
///
/// Most addresses on the wire are their own prepared form, which one look tells. The rest, every one with letters past ASCII,
/// takes Unicode tables and normalisation: some fifty times as long. A stream sees the same few of them again and again.
package struct JIDCache: Sendable {
    /// How many JIDs are kept. Each has two places; a new one takes the first and moves the one before it on.
    package static let maximumCount = 128

    private var places: [(text: String, jid: JID)?] = []
    /// The latest addressee: as a rule the own address, in every stanza.
    private var latestTo: JID?
    private let count: Int

    /// Makes an empty cache.
    ///
    /// - Parameter count: How many places it has; with 0 it keeps nothing.
    package init(count: Int = JIDCache.maximumCount) {
        self.count = count
    }

    /// The JID that the attribute had last, where it is likely to have it again.
    func latest(in attribute: String) -> JID? {
        attribute == "to" ? latestTo : nil
    }

    /// The JID of an attribute's text, prepared or remembered.
    ///
    /// - Throws: ``JIDError``, naming the part that is wrong; nothing is remembered then.
    package mutating func jid(_ text: String, in attribute: String) throws(JIDError) -> JID {
        let jid = try jid(text)
        if attribute == "to", count > 0 { latestTo = jid }
        return jid
    }

    /// The JID of a text, prepared or remembered.
    ///
    /// - Throws: ``JIDError``, naming the part that is wrong; nothing is remembered then.
    package mutating func jid(_ text: String) throws(JIDError) -> JID {
        if let layout = JID.Layout(plain: text) { return JID(prepared: text, layout: layout) }
        guard count > 0 else { return try JID(preparing: text) }
        let first = Int(UInt(bitPattern: text.hashValue) % UInt(count))
        let second = (first + 1) % count
        if !places.isEmpty {
            if let jid = remembered(text, at: first) { return jid }
            if let jid = remembered(text, at: second) { return jid }
        }
        let jid = try JID(preparing: text)
        if places.isEmpty { places = Array(repeating: nil, count: count) }
        places[second] = places[first]
        places[first] = (text, jid)
        return jid
    }

    private func remembered(_ text: String, at place: Int) -> JID? {
        // By octets: text that is only canonically equal has been refused or mapped by rules of its own.
        guard let entry = places[place], entry.text.utf8.elementsEqual(text.utf8) else { return nil }
        return entry.jid
    }
}
