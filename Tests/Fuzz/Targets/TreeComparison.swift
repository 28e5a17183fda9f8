// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import XMPPXML

/// Holds our serializer and parser against expat, which knows nothing of them (`expat.py`, run by Python).
///
/// Every random tree is written by us and read by expat, and must be the same tree. The bytes are then spoilt, and read
/// by both: both refuse, or both read the same.
///
/// The canonical form of an element: `(`, its namespace and local name, its attributes sorted by namespace and name,
/// each as `@`, namespace, name and value; its children in order, text as `'` and the text; `)`. Every string is
/// written as its length in octets, a colon, and the octets.
struct TreeComparison {
    /// What both were given, how often each outcome came, and where they differ.
    struct Report: Sendable {
        var trees = 0
        var spoiltAndRead = 0
        var spoiltAndRefused = 0
        var excepted = 0
        var disagreements: [String] = []
    }

    /// Compares so many trees; stops at the first batch with disagreements.
    static func run(trees count: Int, seed: UInt64) throws -> Report {
        var random = RandomTree(seed: seed)
        var report = Report()
        while report.trees < count, report.disagreements.isEmpty {
            var batch: [(bytes: [UInt8], expected: Outcome?)] = []
            for _ in 0..<min(2_000, count - report.trees) {
                let element = random.element()
                let bytes = try XMLSerializer.serialize(element, defaultNamespace: "jabber:client", isInStream: true)
                batch.append((bytes, .read(canonical(element))))
                batch.append((random.spoilt(bytes), nil))
            }
            try compare(batch, in: &report)
        }
        return report
    }

    /// Compares what both make of documents that were spoilt.
    static func run(spoilt documents: [[UInt8]]) throws -> Report {
        var report = Report()
        try compare(documents.map { ($0, nil) }, in: &report)
        return report
    }

    /// Compares documents with what they were made of, or where that is `nil` with what we read in them.
    private static func compare(_ batch: [(bytes: [UInt8], expected: Outcome?)], in report: inout Report) throws {
        let theirs = try expat(batch.map(\.bytes))
        for (document, their) in zip(batch, theirs) {
            let ours = document.expected ?? outcome(of: document.bytes)
            report.note(document.bytes, isSpoilt: document.expected == nil, ours: ours, theirs: their)
        }
        if theirs.count != batch.count { report.disagreements.append("expat read \(theirs.count) documents") }
    }

    /// What came of a document.
    enum Outcome: Equatable {
        case read([UInt8])
        /// Read, with names that the fourth edition of XML 1.0, which expat follows, may not have.
        case readWithNewNames([UInt8])
        case refused
        /// Refused by rules that are XMPP's or our own, and not XML's.
        case restricted
    }

    private static func outcome(of bytes: [UInt8]) -> Outcome {
        do {
            let element = try Element.parse(bytes)
            return hasNewNames(bytes) ? .readWithNewNames(canonical(element)) : .read(canonical(element))
        } catch XMLStreamError.restrictedXML, XMLStreamError.limitExceeded, XMLStreamError.badFormat {
            return .restricted
        } catch {
            return .refused
        }
    }

    /// Whether a well-formed document has a character in its markup, and not in text or a value, that might be one of
    /// those that names may have only since the fifth edition.
    private static func hasNewNames(_ bytes: [UInt8]) -> Bool {
        var rest = String(decoding: bytes, as: UTF8.self).unicodeScalars[...]
        while let open = rest.firstIndex(of: "<") {
            rest = rest[open...].dropFirst()
            if rest.starts(with: "![CDATA[".unicodeScalars) {
                while !rest.isEmpty, !rest.starts(with: "]]>".unicodeScalars) { rest = rest.dropFirst() }
                continue
            }
            while let scalar = rest.popFirst(), scalar != ">" {
                if scalar == "'" || scalar == "\"" {
                    while let next = rest.popFirst(), next != scalar {}
                } else if !RandomTree.isSurelyOld(scalar) {
                    return true
                }
            }
        }
        return false
    }

    private static func canonical(_ element: Element) -> [UInt8] {
        func field(_ text: String) -> [UInt8] { Array("\(text.utf8.count):\(text)".utf8) }
        var result = [UInt8(ascii: "(")] + field(element.namespace) + field(element.localName)
        let attributes = element.attributes.sorted { left, right in
            let (one, other) = (Array(left.namespace.utf8), Array(right.namespace.utf8))
            if one != other { return one.lexicographicallyPrecedes(other) }
            return left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
        }
        for attribute in attributes {
            result += [UInt8(ascii: "@")] + field(attribute.namespace) + field(attribute.name) + field(attribute.value)
        }
        for node in element.nodes {
            switch node {
            case .element(let child): result += canonical(child)
            case .text(let text): result += [UInt8(ascii: "'")] + field(text)
            }
        }
        return result + [UInt8(ascii: ")")]
    }

    /// Lets expat read documents.
    private static func expat(_ documents: [[UInt8]]) throws -> [Outcome] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "expat-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (input, output) = (folder.appending(path: "in"), folder.appending(path: "out"))
        try Data(documents.flatMap { length($0.count) + $0 }).write(to: input)
        try Data().write(to: output)
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        process.arguments = ["python3", script.appending(path: "expat.py").path]
        process.standardInput = try FileHandle(forReadingFrom: input)
        process.standardOutput = try FileHandle(forWritingTo: output)
        try process.run()
        process.waitUntilExit()
        try require(process.terminationStatus == 0, "python3 ended with \(process.terminationStatus)")
        return outcomes(Array(try Data(contentsOf: output)))
    }

    private static func outcomes(_ bytes: [UInt8]) -> [Outcome] {
        var result: [Outcome] = []
        var rest = bytes[...]
        while rest.count >= 4 {
            let count = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(4)
            guard count != 0xFFFF_FFFF else {
                result.append(.refused)
                continue
            }
            result.append(.read(Array(rest.prefix(count))))
            rest = rest.dropFirst(count)
        }
        return result
    }

    private static func length(_ count: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) }
    }
}

extension TreeComparison.Report {
    /// Notes what both made of a document.
    mutating func note(
        _ bytes: [UInt8], isSpoilt: Bool, ours: TreeComparison.Outcome, theirs: TreeComparison.Outcome
    ) {
        if !isSpoilt { trees += 1 }
        switch (ours, theirs) {
        case (.restricted, _), (.readWithNewNames, .refused):
            excepted += 1
        case (.refused, .refused):
            spoiltAndRefused += 1
        case (.read(let one), .read(let other)) where one == other,
            (.readWithNewNames(let one), .read(let other)) where one == other:
            spoiltAndRead += isSpoilt ? 1 : 0
        default:
            let document = String(decoding: bytes, as: UTF8.self).debugDescription
            disagreements.append("\(document)\n  ours:   \(Self.text(ours))\n  expat:  \(Self.text(theirs))")
        }
    }

    private static func text(_ outcome: TreeComparison.Outcome) -> String {
        if case .read(let canonical) = outcome { return String(decoding: canonical, as: UTF8.self).debugDescription }
        return "\(outcome)"
    }
}
