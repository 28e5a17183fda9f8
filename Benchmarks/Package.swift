// swift-tools-version: 6.3
// SPDX-License-Identifier: Apache-2.0

// Measurements. They are built for release and use the library as anybody would: its public products.

import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "swift-xmpp-benchmarks",
    dependencies: [.package(name: "swift-xmpp", path: "..")],
    targets: [
        .executableTarget(name: "Empty", swiftSettings: strict),
        .executableTarget(name: "Greeting", swiftSettings: strict),
        .executableTarget(name: "Launch", swiftSettings: strict),
        .executableTarget(
            name: "Client", dependencies: [.product(name: "XMPP", package: "swift-xmpp")], swiftSettings: strict),
        .executableTarget(
            name: "Sessions",
            dependencies: [
                .product(name: "XMPP", package: "swift-xmpp"),
                .product(name: "XMPPTestSupport", package: "swift-xmpp"),
            ],
            swiftSettings: strict),
    ]
)
