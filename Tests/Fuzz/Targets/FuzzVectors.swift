// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The project's vectors as inputs to begin with.
enum FuzzVectors {
    private static let tests = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Where inputs that once broke a rule are kept, in a folder for each target.
    static let regressions = tests.appending(path: "Fuzz/Regressions")

    /// The files of a folder of `Tests/Vectors`.
    static func files(in folder: String) -> [[UInt8]] {
        contents(of: tests.appending(path: "Vectors/\(folder)"))
    }

    /// The files of a folder, in the order of their names; none when there is no such folder.
    static func contents(of folder: URL) -> [[UInt8]] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.sorted().compactMap { name in
            // Not Data(contentsOf:), which leaks the buffer of an empty file.
            FileHandle(forReadingAtPath: folder.appending(path: name).path).map { Array($0.readDataToEndOfFile()) }
        }
    }

    /// The rows of a table of `Tests/Vectors`, comments left out, cells cut at tabs and expanded.
    static func rows(_ table: String) -> [[[UInt8]]] {
        let file = tests.appending(path: "Vectors/\(table)")
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            line.split(separator: "\t", omittingEmptySubsequences: false).map { expand(String($0)) }
        }
    }

    /// One column of a table.
    static func column(_ index: Int, of table: String) -> [[UInt8]] {
        rows(table).compactMap { index < $0.count ? $0[index] : nil }
    }

    /// The strings under a key anywhere in a JSON file of `Tests/Vectors`.
    static func objects(in file: String, under key: String) -> [[String: String]] {
        guard let data = try? Data(contentsOf: tests.appending(path: "Vectors/\(file)")),
            let root = try? JSONSerialization.jsonObject(with: data) as? [String: Any],
            let list = root[key] as? [[String: Any]]
        else { return [] }
        return list.map { $0.compactMapValues { $0 as? String } }
    }

    /// Puts in what `{U+HHHH}` and `{0xHH}` stand for.
    private static func expand(_ cell: String) -> [UInt8] {
        var result: [UInt8] = []
        var rest = cell[...]
        while let open = rest.firstIndex(of: "{") {
            result += rest[..<open].utf8
            rest = rest[open...]
            let close = rest.firstIndex(of: "}") ?? rest.index(before: rest.endIndex)
            let body = rest[rest.index(after: open)..<max(close, rest.index(after: open))]
            if body.hasPrefix("U+"), let scalar = UInt32(body.dropFirst(2), radix: 16).flatMap(Unicode.Scalar.init) {
                result += String(scalar).utf8
            } else if body.hasPrefix("0x"), let byte = UInt8(body.dropFirst(2), radix: 16) {
                result.append(byte)
            }
            rest = rest[rest.index(after: close)...]
        }
        return result + Array(rest.utf8)
    }
}
