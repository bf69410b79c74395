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
    name: "ModuleHostTracing",
    products: [.library(name: "ModuleHostTracing", targets: ["ModuleHostTracing"])],
    dependencies: [
        .package(name: "ModuleHost", path: "../.."),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    ],
    targets: [
        .target(
            name: "ModuleHostTracing",
            dependencies: [
                .product(name: "ModuleHostCore", package: "ModuleHost"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: strict),
        // The code of the README, which the tests run, too.
        .executableTarget(
            name: "TracedShop",
            dependencies: [
                "ModuleHostTracing",
                // Stands for the backend of a team.
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
            ],
            path: "Example", exclude: ["slatefile.json"], swiftSettings: strict),
        .testTarget(
            name: "ModuleHostTracingTests",
            dependencies: [
                "ModuleHostTracing", "TracedShop",
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "ModuleHostTesting", package: "ModuleHost"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            path: "Tests", swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
