// swift-tools-version: 6.3

import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    // Asynchronous code of a module stays in the module.
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

// A package of its own, since the root package has no dependency.
let package = Package(
    name: "ModuleHostLogging",
    products: [.library(name: "ModuleHostLogging", targets: ["ModuleHostLogging"])],
    dependencies: [
        .package(name: "ModuleHost", path: "../.."),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        .target(
            name: "ModuleHostLogging",
            dependencies: [
                .product(name: "ModuleHostCore", package: "ModuleHost"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        // The code of the README, which the tests run, too.
        .executableTarget(
            name: "LoggingShop", dependencies: ["ModuleHostLogging"],
            path: "Example", exclude: ["slatefile.json"], swiftSettings: strict),
        .testTarget(
            name: "ModuleHostLoggingTests",
            dependencies: [
                "LoggingShop", "ModuleHostLogging",
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ModuleHostTesting", package: "ModuleHost"),
            ],
            path: "Tests", swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
