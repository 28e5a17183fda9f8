// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Examples")
struct ExamplesTests {
    /// The folders of `Examples` that hold a program.
    static let names: [String] = {
        let folder = SourceTree.root.appending(path: "Examples")
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return entries.filter {
            FileManager.default.fileExists(atPath: folder.appending(path: "\($0)/main.swift").path)
        }.sorted()
    }()

    @Test("the README shows the smallest example as it is")
    func readme() throws {
        let source = try SourceTree.text("Examples/SendOneMessage/SendOneMessage.swift")
        let start = try #require(source.range(of: "\nfunc sendOneMessage("))
        #expect(try SourceTree.text("README.md").contains(source[start.lowerBound...]))
    }

    @Test("there are examples")
    func present() { #expect(Self.names.count >= 4) }

    @Test("an example has a README, is a target, is run, and is listed", arguments: names)
    func complete(_ name: String) throws {
        #expect(try SourceTree.text("Examples/\(name)/README.md").hasPrefix("# \(name)\n"))
        #expect(try SourceTree.text("Examples/Package.swift").contains("example(\"\(name)\""))
        #expect(try SourceTree.text("Examples/run").contains("\nshow \(name) "))
        #expect(try SourceTree.text("Examples/README.md").contains("[\(name)](\(name))"))
    }

    @Test("an example uses the public products alone, and says in its README how to see it without an account")
    func publicOnly() throws {
        for file in SourceTree.files where file.path.hasPrefix("Examples/") && !file.path.hasSuffix("Package.swift") {
            let modules = file.text.split(separator: "\n").compactMap { Floors.importedModule($0) }
            let allowed: Set = [
                "XMPP", "XMPPTestSupport", "JabberControl", "ExampleSupport", "ExampleSockets", "Dispatch", "Glibc",
                "Synchronization",
            ]
            #expect(Set(modules).subtracting(allowed).isEmpty, "\(file.path)")
            #expect(!file.text.contains("@testable"), "\(file.path)")
        }
        for name in Self.names {
            #expect(try SourceTree.text("Examples/\(name)/README.md").contains("swift run \(name) --demo"))
        }
    }
}
