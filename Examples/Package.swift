// swift-tools-version: 6.3
// SPDX-License-Identifier: Apache-2.0

// Programs that use the library as anybody would: its public products, and nothing from inside.

import PackageDescription

/// The library's own settings: what compiles here compiles in the strictest of projects.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

/// An example: a program in the folder of its name, with what it is an example of.
func example(_ name: String, of libraries: [Target.Dependency]? = nil) -> Target {
    let products: [Target.Dependency] = [
        .product(name: "XMPP", package: "swift-xmpp"), .product(name: "XMPPTestSupport", package: "swift-xmpp"),
    ]
    return .executableTarget(
        name: name,
        dependencies: ["ExampleSupport"] + (libraries ?? products),
        path: name,
        exclude: ["README.md"],
        swiftSettings: strict
    )
}

/// What drives the daemon. A demonstration starts one of its own, and a server.
let daemon: [Target.Dependency] = ["JabberControl", "jabberctld", "XMPP", "XMPPTestSupport"].map {
    .product(name: $0, package: "swift-xmpp")
}

let package = Package(
    name: "swift-xmpp-examples",
    dependencies: [.package(name: "swift-xmpp", path: "..")],
    targets: [
        .target(
            name: "ExampleSupport",
            dependencies: [.product(name: "XMPP", package: "swift-xmpp")],
            path: "ExampleSupport",
            swiftSettings: strict
        ),
        .target(name: "ExampleSockets", path: "ExampleSockets", swiftSettings: strict),
        example("AnsweringMachine", of: daemon),
        example("BuddyList"),
        example("CityTable", of: ["ExampleSockets"]),
        example("CustomExtension"),
        example("EchoBot"),
        example("GroupChat"),
        example("LineChat", of: ["ExampleSockets"]),
        example("RoundTrips"),
        example("SendOneMessage"),
    ]
)
