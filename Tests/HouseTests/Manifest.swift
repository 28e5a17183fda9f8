// SPDX-License-Identifier: Apache-2.0

/// What `Package.swift` says about targets, read as text: the test needs no package manager.
struct Manifest {
    /// The names a target depends on, for every target that is not a test.
    let dependencies: [String: Set<String>]

    init(_ text: String) {
        var found: [String: Set<String>] = [:]
        // Comments hold no quotation marks that matter, but strings are what is looked for: only comments go.
        let code = text.split(separator: "\n")
            .filter { !$0.drop { $0 == " " }.hasPrefix("//") }
            .joined(separator: "\n")
        let plain =
            /(?:floor\(\s*|\.(?:target|executableTarget)\(\s*name:\s*)"([^"]+)"\s*,\s*(?:dependencies:\s*)?\[([^\]]*)\]/
        for match in code.matches(of: plain) {
            found[String(match.1)] = Set(match.2.matches(of: /"([^"]+)"/).map { String($0.1) })
        }
        let leaf = /\.(?:target|systemLibrary)\(\s*name:\s*"([^"]+)"/
        for match in code.matches(of: leaf) where found[String(match.1)] == nil {
            found[String(match.1)] = []
        }
        dependencies = found
    }

    /// Dependencies that the floors do not allow.
    var violations: [Violation] {
        var found: [Violation] = []
        for (target, names) in dependencies.sorted(by: { $0.key < $1.key }) {
            if Floors.cellar.contains(target) {
                if !names.isEmpty { found.append(Self.violation("\(target) is a C module and depends on nothing")) }
            } else if Floors.rooms[target] == nil {
                found.append(Self.violation("the target \(target) has no floor: give it one in Floors.swift"))
            }
            for name in names.sorted() where !Floors.cellar.contains(target) && Floors.rooms[target] != nil {
                if let reason = Floors.breach(of: target, importing: name) { found.append(Self.violation(reason)) }
            }
        }
        return found
    }

    private static func violation(_ reason: String) -> Violation {
        Violation(file: "Package.swift", line: 0, reason: reason)
    }
}
