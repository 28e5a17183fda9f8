// swift-tools-version: 6.3
// SPDX-License-Identifier: Apache-2.0

// Programs that use the library as anybody would: its two public products, and nothing from inside.

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

/// An example: a program in the folder of its name.
func example(_ name: String) -> Target {
    .executableTarget(
        name: name,
        dependencies: [
            "ExampleSupport",
            .product(name: "XMPP", package: "swift-xmpp"),
            .product(name: "XMPPTestSupport", package: "swift-xmpp"),
        ],
        path: name,
        exclude: ["README.md"],
        swiftSettings: strict
    )
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
        example("BuddyList"),
        example("CustomExtension"),
        example("EchoBot"),
        example("RoundTrips"),
        example("SendOneMessage"),
    ]
)
