// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The package's own files, found from where this file lies.
enum SourceTree {
    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    struct File: Sendable {
        /// Path from the package's root.
        let path: String
        let text: String
        /// The same, without comments and strings; empty for what is not Swift.
        let swift: SwiftText

        init(path: String, text: String) {
            self.path = path
            self.text = text
            swift = SwiftText(path.hasSuffix(".swift") ? text : "")
        }

        /// The target of a file in `Sources/TARGET/…`, or the empty string.
        var target: String {
            let parts = path.split(separator: "/")
            return parts.count > 2 ? String(parts[1]) : ""
        }
    }

    /// Every source file of the package, read once. Files that cannot be read fail the test that counts them.
    static let files: [File] =
        (try? files(
            under: ["Sources", "Tests", "Examples", "Benchmarks"],
            extensions: ["swift", "c", "h", "modulemap"])) ?? []

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// Every file under the folders that ends in one of the extensions. Build folders are not looked into.
    private static func files(under folders: [String], extensions: Set<String>) throws -> [File] {
        var found: [File] = []
        for folder in folders {
            let top = root.appending(path: folder)
            let walk = FileManager.default.enumerator(at: top, includingPropertiesForKeys: nil)
            while let url = walk?.nextObject() as? URL {
                if url.lastPathComponent == ".build" {
                    walk?.skipDescendants()
                } else if extensions.contains(url.pathExtension) {
                    let path = String(url.path.dropFirst(root.path.count).drop { $0 == "/" })
                    found.append(File(path: path, text: try String(contentsOf: url, encoding: .utf8)))
                }
            }
        }
        return found.sorted { $0.path < $1.path }
    }
}
