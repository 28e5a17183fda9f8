// SPDX-License-Identifier: Apache-2.0

extension String {
    /// Whether the two have the same octets. To XML, texts that only look alike are different ones; to `==` they are
    /// equal.
    package func hasSameOctets(as other: String) -> Bool {
        utf8.withContiguousStorageIfAvailable { other.utf8.hasOctets($0) } ?? utf8.elementsEqual(other.utf8)
    }
}

extension String.UTF8View {
    /// Whether these are the octets of a piece of memory.
    package func hasOctets(_ octets: UnsafeBufferPointer<UInt8>) -> Bool {
        guard count == octets.count else { return false }
        return withContiguousStorageIfAvailable { octets.isEqual(to: $0) } ?? elementsEqual(octets)
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether two pieces of memory hold the same, eight octets at a time.
    package func isEqual(to other: UnsafeBufferPointer<UInt8>) -> Bool {
        guard count == other.count else { return false }
        let (a, b) = (UnsafeRawBufferPointer(self), UnsafeRawBufferPointer(other))
        var index = 0
        while index + 8 <= a.count {
            let word = a.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            guard word == b.loadUnaligned(fromByteOffset: index, as: UInt64.self) else { return false }
            index += 8
        }
        while index < a.count {
            guard a[index] == b[index] else { return false }
            index += 1
        }
        return true
    }
}
