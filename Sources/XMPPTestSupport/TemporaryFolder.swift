// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A private folder of its own in the system's place for temporary files; mode 0700.
public final class TemporaryFolder: Sendable {
    /// Deepest nesting that ``remove()`` follows.
    private static let maximumDepth = 32

    /// The folder's path, without a slash at the end.
    public let path: String

    /// Makes the folder.
    ///
    /// - Parameters:
    ///   - prefix: How its name begins.
    ///   - parent: Where; `nil` for below `$TMPDIR`, else `/tmp`.
    /// - Throws: ``TestSupportError`` when it cannot be made.
    public init(prefix: String = "swift-xmpp-test", in parent: String? = nil) throws(TestSupportError) {
        let parent = parent ?? getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/\(prefix).XXXXXX".utf8CString)
        guard template.withUnsafeMutableBufferPointer({ $0.baseAddress.flatMap(mkdtemp) }) != nil else {
            throw TestSupportError("no temporary folder in \(parent): \(SystemText.lastError)")
        }
        path = String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        remove()
    }

    /// The path of a file in the folder.
    public func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file into the folder and returns its path. Mode 0600.
    ///
    /// - Throws: ``TestSupportError`` when the system refuses.
    @discardableResult
    public func write(_ bytes: [UInt8], to name: String) throws(TestSupportError) -> String {
        let path = file(name)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw TestSupportError("cannot write \(path): \(SystemText.lastError)") }
        defer { close(descriptor) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw TestSupportError("cannot write \(path): \(SystemText.lastError)") }
            rest = rest.dropFirst(count)
        }
        return path
    }

    /// Writes text into the folder; otherwise as ``write(_:to:)``.
    @discardableResult
    public func write(_ text: String, to name: String) throws(TestSupportError) -> String {
        try write(Array(text.utf8), to: name)
    }

    /// The text of a file in the folder; what is not UTF-8 is replaced.
    ///
    /// - Throws: ``TestSupportError`` when the system refuses.
    func text(of name: String) throws(TestSupportError) -> String {
        let descriptor = open(file(name), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw TestSupportError("cannot read \(file(name)): \(SystemText.lastError)") }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &piece, piece.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw TestSupportError("cannot read \(file(name)): \(SystemText.lastError)") }
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += piece[..<count]
        }
    }

    /// Makes a folder in the folder and returns its path.
    ///
    /// - Throws: ``TestSupportError`` when the system refuses.
    @discardableResult
    public func makeFolder(_ name: String) throws(TestSupportError) -> String {
        guard mkdir(file(name), 0o700) == 0 || errno == EEXIST else {
            throw TestSupportError("cannot make \(file(name)): \(SystemText.lastError)")
        }
        return file(name)
    }

    /// Removes the folder and all that is in it; links are removed, not followed. Idempotent.
    public func remove() {
        Self.remove(path, depth: 0)
    }

    private static func remove(_ path: String, depth: Int) {
        if depth < maximumDepth, let directory = opendirWithoutLinks(path) {
            defer { closedir(directory) }
            while let entry = readdir(directory) {
                let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                }
                if name != "." && name != ".." { remove("\(path)/\(name)", depth: depth + 1) }
            }
            rmdir(path)
        } else {
            unlink(path)
        }
    }

    /// Opens a folder; `nil` for files and for links, wherever they point.
    private static func opendirWithoutLinks(_ path: String) -> OpaquePointer? {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        guard let directory = fdopendir(descriptor) else {
            close(descriptor)
            return nil
        }
        return directory
    }
}
