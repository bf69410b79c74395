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
    name: "ModuleHostMetrics",
    products: [.library(name: "ModuleHostMetrics", targets: ["ModuleHostMetrics"])],
    dependencies: [
        .package(name: "ModuleHost", path: "../.."),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    ],
    targets: [
        .target(
            name: "ModuleHostMetrics",
            dependencies: [
                .product(name: "ModuleHostCore", package: "ModuleHost"),
                .product(name: "Metrics", package: "swift-metrics"),
            ],
            swiftSettings: strict),
        // The code of the README, which the tests run, too.
        .executableTarget(
            name: "MeteredShop",
            dependencies: [
                "ModuleHostMetrics",
                // Stands for the backend of a team: it prints each change of a metric.
                .product(name: "MetricsTestKit", package: "swift-metrics"),
            ],
            path: "Example", exclude: ["slatefile.json"], swiftSettings: strict),
        .testTarget(
            name: "ModuleHostMetricsTests",
            dependencies: [
                "MeteredShop", "ModuleHostMetrics",
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "ModuleHostTesting", package: "ModuleHost"),
            ],
            path: "Tests", swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
