// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A file system of its own with little room, for as long as the object lives. Takes root.
package final class SmallDisk: Sendable {
    private let folder: TemporaryFolder
    /// Where it is.
    package let path: String

    /// Whether this process may mount one.
    package static var isPossible: Bool { (try? SmallDisk(kilobytes: 64)) != nil }

    /// Mounts one.
    ///
    /// - Parameter kilobytes: Its size in KiB, a whole number of pages.
    /// - Throws: ``TestSupportError`` when it cannot be mounted.
    package init(kilobytes: Int) throws(TestSupportError) {
        folder = try TemporaryFolder(prefix: "swift-xmpp-disk")
        path = try folder.makeFolder("disk")
        guard mount("tmpfs", path, "tmpfs", 0, "size=\(kilobytes)k,mode=0700") == 0 else {
            throw TestSupportError("cannot mount: \(errno)")
        }
    }

    deinit {
        umount2(path, Int32(MNT_DETACH))
    }

    /// The path of a file on it.
    package func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Makes the file system one that can only be read, or one that can be written again.
    ///
    /// - Returns: Whether that was possible.
    package func setReadOnly(_ isReadOnly: Bool) -> Bool {
        let flags = UInt(MS_REMOUNT) | (isReadOnly ? UInt(MS_RDONLY) : 0)
        return mount("tmpfs", path, "tmpfs", flags, "mode=0700") == 0
    }
}
