// SPDX-License-Identifier: Apache-2.0

import Glibc
import XMPPTestSupport

/// A file system of its own with little room, for as long as the object lives. Takes root.
final class SmallDisk: Sendable {
    let folder: TemporaryFolder
    let path: String

    /// Whether this process may mount one.
    static var isPossible: Bool { (try? SmallDisk(kilobytes: 64)) != nil }

    init(kilobytes: Int) throws {
        folder = try TemporaryFolder(prefix: "swift-xmpp-disk")
        path = try folder.makeFolder("disk")
        guard mount("tmpfs", path, "tmpfs", 0, "size=\(kilobytes)k,mode=0700") == 0 else {
            throw TestSupportError("cannot mount: \(errno)")
        }
    }

    deinit {
        umount2(path, Int32(MNT_DETACH))
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Makes the file system one that can only be read, or one that can be written again.
    func setReadOnly(_ isReadOnly: Bool) -> Bool {
        let flags = UInt(MS_REMOUNT) | (isReadOnly ? UInt(MS_RDONLY) : 0)
        return mount("tmpfs", path, "tmpfs", flags, "mode=0700") == 0
    }
}
