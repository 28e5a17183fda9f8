// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Questions about files.
enum FileProbe {
    /// Whether this process may run the file.
    static func isExecutable(_ path: String) -> Bool { access(path, X_OK) == 0 }

    /// The path of the first entry of a folder whose name begins with `prefix`.
    static func entry(of folder: String, beginning prefix: String) -> String? {
        guard let directory = opendir(folder) else { return nil }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasPrefix(prefix) { return "\(folder)/\(name)" }
        }
        return nil
    }

    /// The paths of a folder's entries.
    static func entries(of folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var result: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { result.append("\(folder)/\(name)") }
        }
        return result
    }
}
