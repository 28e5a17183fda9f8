// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import SocketIO
internal import XMPPCore

/// The place of a file that only its owner may read, whatever the umask says.
struct PrivatePlace: Sendable {
    /// The path of the file.
    let path: String

    /// The files that SQLite keeps beside a database.
    private static let companions = ["-wal", "-shm", "-journal"]

    private var folder: String { PrivateFolder.containing(path) }

    /// Makes the folder (0700) and the file (0600) where they are missing, and refuses what others can read or have
    /// made.
    ///
    /// - Throws: `StorageError` with ``StorageError/Code/permissions`` and the command that mends it, or what the
    ///   system said.
    func prepare() throws(StorageError) {
        guard path.hasPrefix("/"), !path.utf8.contains(0) else {
            throw StorageError(.permissions, file: path, "\(path) is no absolute path; name the file from the root")
        }
        do throws(SystemError) {
            try PrivateFolder.make(folder)
        } catch {
            throw failure("create", error.subject, error.code)
        }
        var status = stat()
        guard lstat(folder, &status) == 0 else { throw failure("look at", folder) }
        // A link to a folder is the user's own affair; what it leads to counts.
        if status.st_mode & S_IFMT == S_IFLNK, stat(folder, &status) != 0 { throw failure("look at", folder) }
        guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid() else {
            throw StorageError(.permissions, file: path, "\(folder) is not a folder of this user; give another place")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw StorageError(
                .permissions, file: path, "others may look into \(folder); run: chmod 700 '\(folder)'")
        }
        if try !isThere(path) { try create() }
        for suffix in Self.companions { _ = try isThere(path + suffix) }
    }

    /// Whether a file is there; one that is must be the user's alone.
    private func isThere(_ path: String) throws(StorageError) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            guard errno == ENOENT else { throw failure("look at", path) }
            return false
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw StorageError(.permissions, file: path, "\(path) is not a plain file; move it away")
        }
        guard status.st_uid == geteuid() else {
            throw StorageError(.permissions, file: path, "\(path) belongs to another user; move it away")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw StorageError(.permissions, file: path, "others may read \(path); run: chmod 600 '\(path)'")
        }
        return true
    }

    private func create() throws(StorageError) {
        let descriptor = SystemCall.uninterrupted {
            open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        }
        guard descriptor >= 0 else { throw failure("create", path) }
        defer { close(descriptor) }
        guard fchmod(descriptor, 0o600) == 0 else { throw failure("create", path) }
        PrivateFolder.sync(folder)
    }

    /// Moves a damaged file out of the way, with what SQLite has beside it; nothing that is there is overwritten.
    ///
    /// - Returns: The path that it has now.
    func setAside(at time: DateTime = .now) throws(StorageError) -> String {
        let stamp = time.description.filter { $0.isNumber || $0 == "T" || $0 == "Z" }
        for attempt in 0..<100 {
            let target = "\(path).damaged-\(stamp)" + (attempt == 0 ? "" : "-\(attempt)")
            // Unlike rename(2), link(2) never replaces what has the name already.
            guard link(path, target) == 0 else {
                guard errno == EEXIST else { throw failure("set aside", path) }
                continue
            }
            // These first: whoever is interrupted here must not leave a log that would be read into a new file.
            for suffix in Self.companions where rename(path + suffix, target + suffix) != 0 && errno != ENOENT {
                throw failure("set aside", path + suffix)
            }
            guard unlink(path) == 0 else { throw failure("set aside", path) }
            PrivateFolder.sync(folder)
            return target
        }
        throw StorageError(
            .other, file: path, "cannot set \(path) aside: too many damaged files are there; remove some")
    }

    private func failure(_ verb: String, _ subject: String, _ number: Int32 = errno) -> StorageError {
        let code: StorageError.Code =
            switch number {
            case ENOSPC, EDQUOT: .full
            case EROFS: .readOnly
            case EACCES, EPERM, ENOTDIR, ELOOP: .permissions
            default: .inputOutput
            }
        return StorageError(code, file: path, "cannot \(verb) \(subject): \(String(cString: strerror(number)))")
    }
}
