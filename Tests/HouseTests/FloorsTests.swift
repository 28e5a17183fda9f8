// SPDX-License-Identifier: Apache-2.0

import Testing

@Suite("Floors")
struct FloorsTests {
    @Test("no target of the manifest depends on a floor above or beside its own")
    func manifest() throws {
        let manifest = Manifest(try SourceTree.text("Package.swift"))
        #expect(manifest.dependencies.count > 15, "the manifest was not understood")
        #expect(manifest.dependencies["XMPPProtocol"]?.contains("XMPPCore") == true)
        #expect(manifest.violations.isEmpty, report(manifest.violations))
    }

    @Test("no source imports what its floor may not see")
    func imports() {
        let files = SourceTree.files.filter { $0.path.hasPrefix("Sources/") && $0.path.hasSuffix(".swift") }
        #expect(files.count > 15, "the sources were not found")
        let found = files.flatMap(Floors.violations(in:))
        #expect(found.isEmpty, report(found))
    }

    @Test(
        "a target that reaches upwards is found",
        arguments: [
            #"floor("XMPPCore", ["XMPPProtocol"])"#,
            #"floor("XMPPTransport", ["SocketIO", "XMPPXML"])"#,
            #"floor("JabberCLI", ["JabberControl", "JabberDaemon"])"#,
            #"floor("JabberControl", ["XMPP"])"#,
            #".executableTarget(name: "jabberctl", dependencies: ["JabberCLI", "XMPP"], swiftSettings: strict)"#,
            #"floor(\#n"XMPP",\#n["JabberControl"]\#n)"#,
            #"floor("Cupola", [])"#,
            #".target(name: "CUnistring", dependencies: ["XMPPCore"])"#,
        ])
    func upwards(_ line: String) {
        #expect(Manifest(line).violations.count == 1)
    }

    @Test(
        "an import that a floor may not have is found",
        arguments: [
            ("XMPPCore", "internal import Foundation"),
            ("XMPP", "import Foundation"),
            ("XMPPXML", "import Dispatch"),
            ("XMPPCrypto", "import XMPPXML"),
            ("SocketIO", "import COpenSSL"),
            ("XMPPCore", "import Dispatch"),
            ("XMPPProtocol", "internal import XMPPTransport"),
            ("XMPPProtocol", "let clock = ContinuousClock()"),
            ("XMPPProtocol", "var generator = SystemRandomNumberGenerator()"),
            ("XMPPTransport", "import XMPPCore"),
            ("XMPP", "import CLibXML2"),
            ("XMPP", "@preconcurrency import JabberControl"),
            ("XMPPStorage", "import XMPPTransport"),
            ("XMPP", "import FoundationEssentials"),
            ("JabberControl", "package import XMPPCore"),
            ("JabberDaemon", "import JabberCLI"),
            ("JabberCLI", "import struct XMPP.JID"),
            ("jabberctl", "import XMPP"),
            ("Cupola", "import Glibc"),
        ])
    func forbidden(_ target: String, _ line: String) {
        let file = SourceTree.File(path: "Sources/\(target)/A.swift", text: "// SPDX\n\(line)\n")
        #expect(Floors.violations(in: file).map(\.line) == [2])
    }

    @Test(
        "an import that a floor may have is not",
        arguments: [
            ("XMPPXML", "internal import CLibXML2"),
            ("XMPP", "public import XMPPCore"),
            ("XMPP", "// import Foundation is slow"),
            ("XMPP", "let text = \"import Foundation\""),
            ("JabberDaemon", "internal import FoundationEssentials"),
            ("SocketIO", "internal import Dispatch"),
            ("XMPPTransport", "internal import struct SocketIO.SocketAddress"),
        ])
    func allowed(_ target: String, _ line: String) {
        let file = SourceTree.File(path: "Sources/\(target)/A.swift", text: "// SPDX\n\(line)\n")
        #expect(Floors.violations(in: file) == [])
    }
}
