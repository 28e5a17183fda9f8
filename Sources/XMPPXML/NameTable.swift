// SPDX-License-Identifier: Apache-2.0

/// The names that one stream uses, each stored once: a parsed element or attribute refers to its name by a number.
///
/// libxml2 keeps names in a dictionary too, so that the two addresses it hands over stand for one name until its context
/// is freed: a name that was met before costs a look at one of 128 places, and no `String` is made or compared.
struct NameTable {
    /// Names that are kept from stanza to stanza. A stanza's further names go with it alone, and the next one starts
    /// over: a peer with ever new names fills no memory.
    static let maximumKnown = 256
    /// How many of these are kept in one array. A stanza holds on to the arrays as they were: adding a name copies the last one
    /// and the list of arrays, and not the names of all, so that a thousand stanzas that wait, each with a new name, stay small.
    static let namesInAPart = 16

    /// The addresses of a local name and of its namespace.
    private struct Key: Hashable {
        let localName: UnsafePointer<UInt8>?
        let namespace: UnsafePointer<UInt8>?
    }

    /// The names that stanzas have in common, in parts of ``namesInAPart``.
    private(set) var known: [[ElementName]] = []
    private var knownCount = 0
    /// Names of the current stanza alone.
    private(set) var extra: [ElementName] = []
    private var numbers: [Key: UInt32] = [:]
    private var places = [(key: Key, number: UInt32)](repeating: (Key(localName: nil, namespace: nil), 0), count: 128)

    /// The number of a name.
    @inline(__always)
    mutating func number(_ localName: UnsafePointer<UInt8>?, _ namespace: UnsafePointer<UInt8>?) -> UInt32 {
        // Addresses in one pool differ in few bits: a product spreads them over its highest seven.
        let address = UInt64(UInt(bitPattern: localName) ^ (UInt(bitPattern: namespace) &* 31))
        let place = Int((address &* 0x9E37_79B9_7F4A_7C15) >> 57)
        let entry = places[place]
        if entry.key.localName == localName && entry.key.namespace == namespace && localName != nil {
            return entry.number
        }
        return find(Key(localName: localName, namespace: namespace), place)
    }

    private mutating func find(_ key: Key, _ place: Int) -> UInt32 {
        if let number = numbers[key] {
            places[place] = (key, number)
            return number
        }
        let name = ElementName(Self.string(key.localName), namespace: Self.string(key.namespace))
        guard knownCount < Self.maximumKnown else {
            extra.append(name)
            return UInt32(Self.maximumKnown + extra.count - 1)
        }
        let number = UInt32(knownCount)
        if knownCount % Self.namesInAPart == 0 {
            known.append([name])
        } else {
            known[known.count - 1].append(name)
        }
        knownCount += 1
        numbers[key] = number
        places[place] = (key, number)
        return number
    }

    /// To be called when a stanza is complete: no number given out before means anything after it.
    mutating func finishStanza() {
        guard !extra.isEmpty else { return }
        self = NameTable()
    }

    private static func string(_ name: UnsafePointer<UInt8>?) -> String {
        name.map { String(cString: $0) } ?? ""
    }
}
