// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Folders that nobody but the user may look into.
package enum PrivateFolder {
    /// The folder that the file of a path is in; `.` for a name alone.
    package static func containing(_ path: String) -> String {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }

    /// Makes a folder and those above it, 0700 each whatever the umask says, where they are missing. Those that are
    /// there stay as they are.
    ///
    /// - Throws: ``SystemError`` with the folder that could not be made.
    package static func make(_ path: String) throws(SystemError) {
        guard !path.isEmpty, try !isMade(path) else { return }
        let parent = containing(path)
        guard parent != "/", parent != "." else { throw SystemError(ENOENT, "mkdir", path) }
        try make(parent)
        guard try isMade(path) else { throw SystemError(ENOENT, "mkdir", path) }
    }

    /// Makes one folder; `false` when there is none to make it in.
    private static func isMade(_ path: String) throws(SystemError) -> Bool {
        guard SystemCall.uninterrupted({ mkdir(path, 0o700) }) != 0 else {
            // mkdir(2) takes the umask off: one that keeps the owner out would keep us out. File systems without modes
            // refuse.
            chmod(path, 0o700)
            return true
        }
        switch errno {
        case EEXIST: return true
        case ENOENT: return false
        default: throw .last("mkdir", path)
        }
    }

    /// Sees to it that the names in a folder are on the disk; without an effect where that cannot be done.
    package static func sync(_ path: String) {
        let handle = SystemCall.uninterrupted { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard handle >= 0 else { return }
        _ = SystemCall.uninterrupted { fsync(handle) }
        close(handle)
    }
}
