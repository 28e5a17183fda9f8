// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Octets that must not outlive their use: wiped with `OPENSSL_cleanse` when the last owner lets go.
///
/// Shared by reference, so passing it on makes no further copy. Prints, reflects and dumps as `<secret>`.
///
/// `@unchecked Sendable`: the storage is written only inside the initialisers, before the object can be shared,
/// and by `deinit`, when nobody else holds it; in between it is only read.
package final class SecretBytes: @unchecked Sendable {
    private let storage: UnsafeMutableRawBufferPointer

    /// Copies `bytes`; the caller's own copy is the caller's to forget.
    package init(_ bytes: some Collection<UInt8>) {
        storage = .allocate(byteCount: bytes.count, alignment: 1)
        storage.copyBytes(from: bytes)
    }

    /// Copies the UTF-8 form of `text`.
    package convenience init(_ text: String) {
        self.init(text.utf8)
    }

    /// Makes room for `count` octets, all zero, and lets `fill` write them; wiped also when `fill` throws.
    ///
    /// - Throws: what `fill` throws.
    package init<Failure: Error>(
        count: Int,
        fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        storage = .allocate(byteCount: max(0, count), alignment: 1)
        storage.initializeMemory(as: UInt8.self, repeating: 0)
        try fill(storage)
    }

    deinit {
        OPENSSL_cleanse(storage.baseAddress, storage.count)
        storage.deallocate()
    }

    /// How many octets there are.
    package var count: Int { storage.count }

    /// Whether there are none.
    package var isEmpty: Bool { storage.isEmpty }

    /// Lends the octets for the time of `body`; they must not be kept.
    ///
    /// - Throws: what `body` throws.
    package func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(storage))
    }

    /// Whether both hold the same octets, in time that does not depend on where they differ.
    package func matches(_ other: SecretBytes) -> Bool {
        ConstantTime.equals(UnsafeRawBufferPointer(storage), UnsafeRawBufferPointer(other.storage))
    }
}

extension SecretBytes: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always `<secret>`.
    package var description: String { "<secret>" }

    /// Always `<secret>`.
    package var debugDescription: String { "<secret>" }

    /// Shows nothing to `dump` and to debuggers that ask for children.
    package var customMirror: Mirror { Mirror(self, children: [(label: String?, value: Any)]()) }
}
