// swift-tools-version: 6.3
// SPDX-License-Identifier: Apache-2.0

// The stairs of the house: a target may depend on targets of lower floors only.
// `Tests/HouseTests` reads this file and the imports of every source and fails when one reaches upwards.

import PackageDescription

/// Settings of every Swift target: the strictest the language offers, so that data-race safety is proven, not believed.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

/// And functions that belong to no actor run where they are called from.
let callerIsolated = SwiftSetting.enableUpcomingFeature("NonisolatedNonsendingByDefault")

/// A Swift target of the library or the tools.
func floor(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    // Not so in XMPP: it would give the delegates' methods an isolation of their own, which Swift 6.3 then prefers to
    // that of the class that implements them. A delegate on the main actor would have to write `@MainActor` at each
    // method.
    let settings = name == "XMPP" ? strict : strict + [callerIsolated]
    return .target(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: settings)
}

/// The tests that stand beside a target.
func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: strict + [callerIsolated])
}

/// What the fuzz targets look at: every floor that reads what somebody else wrote.
let fuzzed: [Target.Dependency] = [
    "XMPPXML", "XMPPCrypto", "SocketIO", "XMPPCore", "XMPPProtocol", "XMPPTransport", "XMPP", "JabberControl",
    "JabberCLI", "COpenSSL",
]

/// `Tests/Fuzz/run` builds the folder as a program of libFuzzer; for everybody else it is tests that replay what was
/// found.
let fuzz: Target =
    Context.environment["XMPP_FUZZ"] == nil
    ? .testTarget(
        name: "FuzzTests", dependencies: fuzzed, path: "Tests/Fuzz",
        exclude: ["Driver", "Dictionaries", "Regressions", "expat.py", "run"],
        sources: ["Targets", "Replay"], swiftSettings: strict + [callerIsolated])
    : .executableTarget(
        name: "fuzz", dependencies: fuzzed, path: "Tests/Fuzz",
        exclude: ["Replay", "Dictionaries", "Regressions", "expat.py", "run"],
        sources: ["Targets", "Driver"], swiftSettings: strict + [callerIsolated])

let package = Package(
    name: "swift-xmpp",
    products: [
        .library(name: "XMPP", targets: ["XMPP"]),
        .library(name: "XMPPStorage", targets: ["XMPPStorage"]),
        .library(name: "XMPPTestSupport", targets: ["XMPPTestSupport"]),
        .library(name: "JabberControl", targets: ["JabberControl"]),
        .executable(name: "jabberctl", targets: ["jabberctl"]),
        .executable(name: "jabberctld", targets: ["jabberctld"]),
        .executable(name: "xmpp-loopback", targets: ["xmpp-loopback"]),
    ],
    targets: [
        // Cellar: C libraries, one module map and one shim header each.
        .systemLibrary(name: "CLibXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CEpoll"),
        // No pkgConfig: the file that libunbound installs asks for libevent's, which nothing here needs.
        .systemLibrary(name: "CUnbound", providers: [.apt(["libunbound-dev"])]),
        .systemLibrary(name: "CIDN2", pkgConfig: "libidn2", providers: [.apt(["libidn2-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        // No pkgConfig: Debian's package has no file for it.
        .systemLibrary(name: "CWslay", providers: [.apt(["libwslay-dev"])]),
        // Only its header: the one command that edits lines loads the library itself.
        .systemLibrary(name: "CLibEdit", providers: [.apt(["libedit-dev"])]),
        // A target of C, not a system module: libunistring's headers redefine the types of stdint.h.
        .target(name: "CUnistring", linkerSettings: [.linkedLibrary("unistring")]),

        // Ground floor.
        floor("XMPPXML", ["CLibXML2"]),
        floor("XMPPCrypto", ["COpenSSL"]),
        floor("SocketIO", ["CEpoll"]),
        floor("JSONText", []),

        // First floor: values only.
        floor("XMPPCore", ["XMPPXML", "CIDN2", "CUnistring"]),

        // Second floor: protocol logic without I/O, and transport without XML.
        floor("XMPPProtocol", ["XMPPCore", "XMPPXML", "XMPPCrypto"]),
        floor("XMPPTransport", ["SocketIO", "XMPPCrypto", "COpenSSL", "CUnbound", "CWslay"]),

        // Third floor: the library that people import, and what must outlive the process.
        floor("XMPPStorage", ["XMPPCore", "XMPPXML", "XMPPProtocol", "SocketIO", "CSQLite"]),
        floor("XMPP", ["XMPPCore", "XMPPXML", "XMPPCrypto", "XMPPProtocol", "SocketIO", "XMPPTransport", "JSONText"]),

        // Fourth floor: control protocol, daemon, command.
        floor("JabberControl", ["SocketIO", "JSONText"]),
        floor("JabberDaemon", ["XMPP", "XMPPStorage", "JabberControl", "SocketIO"]),
        floor("JabberCLI", ["JabberControl", "SocketIO", "CLibEdit"]),

        // Roof.
        .executableTarget(name: "jabberctl", dependencies: ["JabberCLI"], swiftSettings: strict + [callerIsolated]),
        .executableTarget(name: "jabberctld", dependencies: ["JabberDaemon"], swiftSettings: strict + [callerIsolated]),

        // Wing: what tests, ours and other people's, are made of.
        floor(
            "XMPPTestSupport",
            ["XMPP", "XMPPCore", "XMPPXML", "XMPPCrypto", "XMPPProtocol", "SocketIO", "XMPPTransport", "COpenSSL"]
        ),
        .executableTarget(
            name: "xmpp-loopback", dependencies: ["XMPPTestSupport", "XMPP", "XMPPCrypto", "SocketIO"],
            swiftSettings: strict),

        // What floods do to a client: measured by Benchmarks/run, asserted in XMPPTests.
        .executableTarget(
            name: "xmpp-floods", dependencies: ["XMPP", "XMPPXML", "XMPPTestSupport", "JabberControl", "SocketIO"],
            path: "Benchmarks/Floods", swiftSettings: strict + [callerIsolated]),

        // A client that is killed at every system call: run whole by `make sweep`, in part by XMPPTests.
        .executableTarget(
            name: "xmpp-sweep", dependencies: ["XMPP", "XMPPStorage", "XMPPTestSupport", "JabberControl", "SocketIO"],
            path: "Tests/Sweep", swiftSettings: strict + [callerIsolated]),

        // How many messages the outbox takes, and what the same costs without group commit.
        .executableTarget(
            name: "xmpp-outbox", dependencies: ["XMPPStorage", "XMPP", "XMPPTestSupport", "CSQLite"],
            path: "Benchmarks/Outbox", swiftSettings: strict + [callerIsolated]),

        tests("XMPPXMLTests", ["XMPPXML", "XMPPTestSupport"]),
        tests("XMPPCryptoTests", ["XMPPCrypto"]),
        tests("SocketIOTests", ["SocketIO", "XMPPTestSupport"]),
        tests("JSONTextTests", ["JSONText"]),
        tests("XMPPCoreTests", ["XMPPCore", "XMPPXML", "XMPPTestSupport"]),
        tests("XMPPProtocolTests", ["XMPPProtocol", "XMPPCore", "XMPPXML", "XMPPCrypto", "XMPPTestSupport"]),
        tests("XMPPTransportTests", ["XMPPTransport", "SocketIO", "COpenSSL", "XMPPTestSupport"]),
        tests(
            "XMPPStorageTests",
            ["XMPPStorage", "XMPPProtocol", "XMPPCore", "XMPPXML", "XMPPTestSupport", "CSQLite"],
            exclude: ["Fixtures"]),
        tests(
            "XMPPTests",
            [
                "XMPP", "XMPPStorage", "XMPPCore", "XMPPXML", "XMPPCrypto", "XMPPProtocol", "SocketIO",
                "XMPPTransport", "JSONText", "XMPPTestSupport", "xmpp-floods", "xmpp-sweep", "jabberctld",
            ]),
        tests("XMPPTestSupportTests", ["XMPPTestSupport", "XMPP", "XMPPCore", "XMPPXML", "SocketIO", "XMPPTransport"]),
        tests("JabberControlTests", ["JabberControl", "SocketIO"]),
        tests(
            "JabberDaemonTests",
            ["JabberDaemon", "JabberControl", "XMPP", "XMPPStorage", "XMPPTestSupport", "SocketIO", "XMPPTransport"]),
        tests(
            "JabberCLITests",
            ["JabberCLI", "JabberControl", "SocketIO", "XMPP", "XMPPTestSupport", "jabberctl", "jabberctld"]),
        fuzz,
        tests("HouseTests", []),
        tests("ManualTests", ["XMPP", "XMPPStorage", "XMPPTestSupport", "JabberControl"]),
        tests(
            "IntegrationTests", ["XMPP", "XMPPTestSupport", "JabberCLI", "JabberControl", "JabberDaemon", "SocketIO"]),
    ]
)
