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
    name: "ModuleHostServiceLifecycle",
    products: [
        .library(name: "ModuleHostServiceLifecycle", targets: ["ModuleHostServiceLifecycle"])
    ],
    dependencies: [
        .package(name: "ModuleHost", path: "../.."),
        .package(
            url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
    ],
    targets: [
        .target(
            name: "ModuleHostServiceLifecycle",
            dependencies: [
                .product(name: "ModuleHostCore", package: "ModuleHost"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict),
        // The code of the README, which the tests run, too.
        .executableTarget(
            name: "MailServer", dependencies: ["ModuleHostServiceLifecycle"],
            path: "Example", exclude: ["slatefile.json"], swiftSettings: strict),
        .testTarget(
            name: "ModuleHostServiceLifecycleTests",
            dependencies: [
                "MailServer", "ModuleHostServiceLifecycle",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ModuleHostTesting", package: "ModuleHost"),
            ],
            path: "Tests", swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
