// SPDX-License-Identifier: Apache-2.0

/// The names that one stream uses, each stored once: a parsed element or attribute refers to its name by a number.
///
/// libxml2 keeps names in a dictionary too, so that the two addresses it hands over stand for one name until its
/// context is freed: a name that was met before costs a look at one of 128 places, and no `String` is made or compared.
struct NameTable {
    /// Names that are kept from stanza to stanza. A stanza's further names go with it alone, and the next one starts
    /// over: a peer with ever new names fills no memory.
    static let maximumKnown = 256
    /// How many of these are kept in one array. A stanza holds on to the arrays as they were: adding a name copies the
    /// last one and the list of arrays, and not the names of all, so that a thousand stanzas that wait, each with a new
    /// name, stay small.
    static let namesInAPart = 16
    /// Bytes of a local name and its namespace together past which the name goes with its stanza alone; 128, twice what
    /// usual ones have. What all stanzas hold on to stays small.
    static let maximumKnownBytes = 128
    /// Bytes of names that stanzas have in common which count for none of them, as the stream itself has them; 4,096,
    /// more than usual streams use. A peer may have the stream begin anew with names: what it had then is held on to by
    /// its stanzas alone.
    static let uncountedBytes = 4_096

    /// The addresses of a local name and of its namespace.
    private struct Key: Hashable {
        let localName: UnsafePointer<UInt8>?
        let namespace: UnsafePointer<UInt8>?
    }

    /// The names that stanzas have in common, in parts of ``namesInAPart``.
    private(set) var known: [[ElementName]] = []
    private var knownCount = 0
    /// Bytes of the texts of these names, each namespace once.
    private var knownBytes = 0
    /// Names of the current stanza alone, each once.
    private(set) var extra: [ElementName] = []
    /// Bytes of the texts of these, each namespace once.
    private var extraBytes = 0
    private var numbers: [Key: UInt32] = [:]
    private var extraNumbers: [Key: UInt32] = [:]
    /// The text of each namespace, which all names in it share: it may be much longer than they are.
    private var namespaces: [UnsafePointer<UInt8>: String] = [:]
    private var places = [(key: Key, number: UInt32)](repeating: (Key(localName: nil, namespace: nil), 0), count: 128)

    /// About how many bytes of names the current stanza holds on to.
    var bytesOfAStanza: Int {
        extra.count * MemoryLayout<ElementName>.stride + extraBytes + max(0, knownBytes - Self.uncountedBytes)
    }

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
        if let number = extraNumbers[key] { return number }
        let (namespace, isNew) = namespace(at: key.namespace)
        let name = ElementName(key.localName.map { String(cString: $0) } ?? "", namespace: namespace)
        let bytes = name.localName.utf8.count + (isNew ? namespace.utf8.count : 0)
        guard
            knownCount < Self.maximumKnown,
            name.localName.utf8.count + namespace.utf8.count <= Self.maximumKnownBytes
        else {
            let number = UInt32(Self.maximumKnown + extra.count)
            extra.append(name)
            extraBytes += bytes
            extraNumbers[key] = number
            return number
        }
        knownBytes += bytes
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
        guard knownCount < Self.maximumKnown else {
            self = NameTable()
            return
        }
        extra = []
        extraBytes = 0
        extraNumbers = [:]
        namespaces = [:]
    }

    /// The text of a namespace, and whether it was not met before.
    private mutating func namespace(at address: UnsafePointer<UInt8>?) -> (String, isNew: Bool) {
        guard let address else { return ("", false) }
        if let namespace = namespaces[address] { return (namespace, false) }
        let namespace = String(cString: address)
        namespaces[address] = namespace
        return (namespace, true)
    }
}
