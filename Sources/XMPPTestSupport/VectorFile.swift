// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The tables that several test targets read, in `Tests/Vectors`.
package enum VectorFile {
    /// The largest table that is read, in bytes: 4 MiB.
    package static let maximumBytes = 4 << 20

    /// The rows of a table: cells cut at tabs, comment lines left out.
    ///
    /// - Parameters:
    ///   - table: The path of the table, from `Tests/Vectors`.
    ///   - test: The file of the test, which is what leads to the tables.
    /// - Throws: ``TestSupportError`` when there is no such table, or one that is larger than ``maximumBytes``.
    package static func rows(
        _ table: String, of test: String = #filePath
    ) throws(TestSupportError) -> [[String]] {
        let folders = test.split(separator: "/", omittingEmptySubsequences: false)
        guard let tests = folders.lastIndex(of: "Tests") else { throw TestSupportError("\(test) is below no Tests") }
        let path = folders[...tests].joined(separator: "/") + "/Vectors/" + table
        return try text(of: path).split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        }
    }

    /// A file's text.
    ///
    /// - Throws: ``TestSupportError`` when there is no such file, or one that is larger than ``maximumBytes``.
    static func text(of path: String) throws(TestSupportError) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw TestSupportError("cannot read \(path): \(SystemText.lastError)") }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= maximumBytes {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw TestSupportError("cannot read \(path): \(SystemText.lastError)") }
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer.prefix(count)
        }
        throw TestSupportError("\(path) is larger than \(maximumBytes) bytes")
    }
}
