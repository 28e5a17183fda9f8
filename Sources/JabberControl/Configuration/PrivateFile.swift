// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import SocketIO

/// Files that may hold a secret: read with a look at who else can, written so that nobody else ever could.
package enum PrivateFile {
    /// The largest file that is read, in bytes: 1 MiB.
    package static let maximumBytes = 1 << 20
    /// The most symbolic links that are followed one after another, as many as Linux follows.
    package static let maximumLinks = 40

    /// A file's bytes and who may touch it.
    package struct Contents: Sendable {
        /// The bytes.
        package var bytes: [UInt8]
        /// The permission bits, such as `0o600`.
        package var mode: UInt32
        /// The owner.
        package var owner: UInt32
        /// Whether the path is a symbolic link.
        package var isLink: Bool
    }

    /// Reads a file; `nil` when there is none.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/inputOutput`` when it cannot be read or is no plain file.
    package static func read(_ path: String) throws(ControlError) -> Contents? {
        var link = stat()
        guard lstat(path, &link) == 0 else {
            guard errno == ENOENT || errno == ENOTDIR else { throw failure("read", path) }
            return nil
        }
        let descriptor = SystemCall.uninterrupted { open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) }
        guard descriptor >= 0 else {
            // A link to a file that is still to be made.
            guard errno == ENOENT else { throw failure("open", path) }
            return nil
        }
        defer { Glibc.close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure("read", path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw ControlError(.inputOutput, "\(path) is not a plain file")
        }
        guard status.st_size <= maximumBytes else {
            throw ControlError(.inputOutput, "\(path) is larger than \(maximumBytes) bytes")
        }
        let bytes = try FileDescriptor(descriptor).readAll(limit: maximumBytes, name: path)
        return Contents(
            bytes: bytes, mode: status.st_mode & 0o7777, owner: status.st_uid,
            isLink: link.st_mode & S_IFMT == S_IFLNK)
    }

    /// Refuses a file with a secret that others can read or that belongs to somebody else.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/permissions`` and the command that mends it.
    package static func requireSecret(
        _ contents: Contents, at path: String, user: UInt32 = geteuid()
    ) throws(ControlError) {
        guard !contents.isLink else {
            throw ControlError(
                .permissions, "\(path) holds a password and is a symbolic link; put the file itself there")
        }
        guard contents.owner == user else {
            throw ControlError(
                .permissions,
                "\(path) holds a password and belongs to another user; run: chown \(userName(user)) '\(path)'")
        }
        guard contents.mode & 0o077 == 0 else {
            throw ControlError(
                .permissions, "\(path) holds a password and others may read it; run: chmod 600 '\(path)'")
        }
    }

    /// Refuses settings that somebody else can change: they name commands to run and anchors to trust.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/permissions`` and the command that mends it.
    package static func requireTrusted(
        _ contents: Contents, at path: String, user: UInt32 = geteuid()
    ) throws(ControlError) {
        guard contents.owner == user || contents.owner == 0 else {
            throw ControlError(
                .permissions, "\(path) belongs to another user; run: chown \(userName(user)) '\(path)'")
        }
        guard contents.mode & 0o022 == 0 else {
            throw ControlError(.permissions, "\(path) can be changed by others; run: chmod go-w '\(path)'")
        }
    }

    /// Replaces a file in one step: readers see the old one or the new one. The new one is 0600 whatever the umask, its
    /// folder is made with 0700 when missing.
    ///
    /// - Parameters:
    ///   - bytes: What the file shall hold.
    ///   - path: The file.
    ///   - followsLinks: Whether a symbolic link at the path stays, and the file that it leads to is replaced. A file
    ///     with a secret takes the link's place: nobody else shall say where it is.
    /// - Throws: `ControlError` with ``ControlErrorCode/inputOutput``.
    package static func write(_ bytes: [UInt8], to path: String, followsLinks: Bool = false) throws(ControlError) {
        let path = followsLinks ? try target(of: path) : path
        let folder = folder(of: path)
        try makeFolder(folder)
        let temporary = "\(path).\(getpid()).\(UInt32.random(in: 0...UInt32.max)).new"
        let descriptor = SystemCall.uninterrupted {
            open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        }
        guard descriptor >= 0 else { throw failure("create", temporary) }
        do throws(ControlError) {
            defer { Glibc.close(descriptor) }
            guard fchmod(descriptor, 0o600) == 0 else { throw failure("create", temporary) }
            try FileDescriptor(descriptor).writeAll(bytes, name: temporary)
            guard SystemCall.uninterrupted({ fsync(descriptor) }) == 0 else { throw failure("write", temporary) }
        } catch {
            unlink(temporary)
            throw error
        }
        guard rename(temporary, path) == 0 else {
            let error = failure("replace", path)
            unlink(temporary)
            throw error
        }
        PrivateFolder.sync(folder)
    }

    /// The file that a path leads to, whether it exists or not.
    private static func target(of path: String) throws(ControlError) -> String {
        var place = path
        for _ in 0..<maximumLinks {
            let next = String(unsafeUninitializedCapacity: 4096) { bytes in
                bytes.withMemoryRebound(to: CChar.self) { buffer in
                    buffer.baseAddress.map { max(0, readlink(place, $0, buffer.count)) } ?? 0
                }
            }
            if next.isEmpty { return place }
            place = next.hasPrefix("/") ? next : "\(folder(of: place))/\(next)"
        }
        throw ControlError(.inputOutput, "\(path) leads through too many symbolic links")
    }

    /// The folder that a file is in.
    package static func folder(of path: String) -> String {
        PrivateFolder.containing(path)
    }

    /// Does something while nobody else who asks for the same folder's turn does, in this process or another; waits for
    /// its turn. The folder is made when missing.
    ///
    /// On a file system that knows no locks (flock(2)) nothing is waited for.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/inputOutput``, or what `body` throws.
    package static func inTurn<Result>(
        at folder: String, _ body: () throws(ControlError) -> Result
    ) throws(ControlError) -> Result {
        try makeFolder(folder)
        let descriptor = SystemCall.uninterrupted { open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard descriptor >= 0 else { throw failure("open", folder) }
        defer { Glibc.close(descriptor) }
        guard
            SystemCall.uninterrupted({ flock(descriptor, LOCK_EX) }) == 0
                || [EBADF, EINVAL, ENOLCK, EOPNOTSUPP].contains(errno)
        else { throw failure("lock", folder) }
        return try body()
    }

    /// Removes a file; `false` when there was none.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/inputOutput``.
    @discardableResult
    package static func remove(_ path: String) throws(ControlError) -> Bool {
        if unlink(path) == 0 { return true }
        guard errno == ENOENT else { throw failure("remove", path) }
        return false
    }

    /// Whether there is anything at a path, be it a link that leads nowhere.
    package static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// The names of the files in a folder, sorted; empty when there is no such folder.
    package static func names(in folder: String) -> [String] {
        let descriptor = SystemCall.uninterrupted { open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard descriptor >= 0 else { return [] }
        guard let handle = fdopendir(descriptor) else {
            Glibc.close(descriptor)
            return []
        }
        defer { closedir(handle) }
        var names: [String] = []
        while let entry = readdir(handle) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: pointer.pointee)) {
                    String(cString: $0)
                }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Makes a folder and those above it, 0700 each whatever the umask, where they are missing.
    ///
    /// - Throws: `ControlError` with ``ControlErrorCode/inputOutput``.
    package static func makeFolder(_ path: String) throws(ControlError) {
        do throws(SystemError) {
            try PrivateFolder.make(path)
        } catch {
            throw failure("create", error.subject, error.code)
        }
    }

    private static func failure(_ verb: String, _ path: String, _ number: Int32 = errno) -> ControlError {
        ControlError(.inputOutput, "cannot \(verb) \(path): \(String(cString: strerror(number)))")
    }

    private static func userName(_ user: UInt32) -> String {
        guard let entry = getpwuid(user), let name = entry.pointee.pw_name else { return String(user) }
        return String(cString: name)
    }
}
