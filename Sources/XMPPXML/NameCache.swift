// SPDX-License-Identifier: Apache-2.0

/// Strings of names that libxml2 keeps in its dictionary, by address: the same name is the same string object.
///
/// Valid as long as the dictionary: a name's address stands for that name until the context is freed. The table has
/// 128 places; a name whose place is taken replaces the one that had it.
struct NameCache {
    private var entries = [(key: UnsafePointer<UInt8>?, string: String)](repeating: (nil, ""), count: 128)

    /// The string at the address; empty for `nil`.
    @inline(__always)
    mutating func string(_ name: UnsafePointer<UInt8>?) -> String {
        guard let name else { return "" }
        // Bytes in a pool are not aligned: mix some higher bits in.
        let address = UInt(bitPattern: name)
        let place = Int((address ^ (address >> 7)) & 127)
        if entries[place].key == name { return entries[place].string }
        let string = String(cString: name)
        entries[place] = (name, string)
        return string
    }
}
