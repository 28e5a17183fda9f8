// SPDX-License-Identifier: Apache-2.0

extension JID: CustomStringConvertible {
    /// The prepared JID, as it goes over the wire.
    public var description: String { text }
}

extension JID {
    /// Equality is that of the octets: prepared text is NFC, where canonical equivalence, which `String` compares, is
    /// identity; the offsets follow from the text.
    public static func == (left: JID, right: JID) -> Bool {
        left.text == right.text
    }

    /// Hashes what equality compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(text)
    }
}

extension JID: Comparable {
    /// Orders by localpart, then domainpart, then resourcepart, a missing part first: full JIDs follow their bare JID.
    public static func < (left: JID, right: JID) -> Bool {
        if left.localpart != right.localpart { return (left.localpart ?? "") < (right.localpart ?? "") }
        if left.domainpart != right.domainpart { return left.domainpart < right.domainpart }
        return (left.resourcepart ?? "") < (right.resourcepart ?? "")
    }
}

extension JID: Codable {
    /// Reads a JID from a single string.
    ///
    /// - Throws: `DecodingError.dataCorrupted` with the description of the ``JIDError`` when the string is not a JID.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let string = try container.decode(String.self)
        do {
            try self.init(string)
        } catch {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: error.description)
        }
    }

    /// Writes the JID as a single string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
