// SPDX-License-Identifier: Apache-2.0

internal import XMPPXML

/// JIDs that were prepared lately, by the octets that they were prepared from.
///
/// A stream sees the same few addresses again and again: the own one in every stanza, and those of whoever talks just
/// now. A JID that is found here costs a comparison of memory, and no string is made of what was read. One with letters
/// past ASCII would otherwise take Unicode tables and normalisation each time.
package struct JIDCache: Sendable {
    /// The most JIDs that are kept.
    package static let maximumCount = 1_024
    /// How many are kept at first: as many as an idle stream needs, which may be one of thousands.
    private static let initialCount = 64

    private struct Entry {
        let text: String
        let jid: JID
    }

    /// Each JID has two places; a new one takes the first and moves the one before it on.
    private var places: [Entry?] = []
    /// How many entries had to go since the last growth.
    private var displaced = 0
    private let maximum: Int

    /// Makes an empty cache.
    ///
    /// - Parameter maximum: How many JIDs it may keep; with 0 it keeps nothing.
    package init(maximum: Int = JIDCache.maximumCount) {
        self.maximum = maximum
    }

    /// The JID of a text, prepared or remembered.
    ///
    /// - Throws: ``JIDError``, naming the part that is wrong; nothing is remembered then.
    package mutating func jid(_ text: String) throws(JIDError) -> JID {
        var text = text
        return try text.withUTF8 { octets in Result { () throws(JIDError) in try jid(octets: octets) } }.get()
    }

    /// The JID of octets that are UTF-8, prepared or remembered.
    ///
    /// - Throws: ``JIDError``, naming the part that is wrong; nothing is remembered then.
    package mutating func jid(octets: UnsafeBufferPointer<UInt8>) throws(JIDError) -> JID {
        guard maximum > 0 else { return try JID(String(decoding: octets, as: UTF8.self)) }
        let hash = Self.hash(octets)
        if !places.isEmpty {
            let (first, second) = placesOf(hash)
            if let jid = remembered(octets, at: first) ?? remembered(octets, at: second) { return jid }
        }
        let text = String(decoding: octets, as: UTF8.self)
        let jid = try JID(text)
        growIfFull()
        remember(Entry(text: text, jid: jid), hash)
        return jid
    }

    private func placesOf(_ hash: UInt64) -> (Int, Int) {
        let first = Int(hash % UInt64(places.count))
        return (first, (first + 1) % places.count)
    }

    private func remembered(_ octets: UnsafeBufferPointer<UInt8>, at place: Int) -> JID? {
        // By octets: text that is only canonically equal has been refused or mapped by rules of its own.
        places[place]?.text.utf8.hasOctets(octets) == true ? places[place]?.jid : nil
    }

    private mutating func remember(_ entry: Entry, _ hash: UInt64) {
        let (first, second) = placesOf(hash)
        if places[first] != nil {
            if places[second] != nil { displaced += 1 }
            places[second] = places[first]
        }
        places[first] = entry
    }

    /// Doubles the places when an eighth as many entries had to go as there are places: more addresses are in use than
    /// fit.
    private mutating func growIfFull() {
        guard places.isEmpty || (8 * displaced >= places.count && places.count < maximum) else { return }
        let entries = places
        places = Array(repeating: nil, count: min(maximum, max(Self.initialCount, 2 * places.count)))
        displaced = 0
        for case let entry? in entries {
            var text = entry.text
            remember(entry, text.withUTF8(Self.hash))
        }
    }

    /// Spreads addresses over the places, eight octets at a time. A peer that makes them meet gains nothing: what is
    /// not found is prepared.
    private static func hash(_ octets: UnsafeBufferPointer<UInt8>) -> UInt64 {
        let bytes = UnsafeRawBufferPointer(octets)
        var hash = UInt64(truncatingIfNeeded: bytes.count)
        var index = 0
        while index + 8 <= bytes.count {
            hash = (hash ^ bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)) &* 0x9E37_79B9_7F4A_7C15
            hash ^= hash >> 29
            index += 8
        }
        while index < bytes.count {
            hash = (hash ^ UInt64(bytes[index])) &* 0x9E37_79B9_7F4A_7C15
            index += 1
        }
        return hash >> 32
    }
}
