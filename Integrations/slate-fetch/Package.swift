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
    name: "ModuleHostSlateFetch",
    products: [.executable(name: "slate-fetch", targets: ["slate-fetch"])],
    dependencies: [
        .package(name: "ModuleHost", path: "../.."),
        .package(name: "ModuleHostRedisStreams", path: "../redis-streams"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    ],
    targets: [
        // The module and the commands.
        .target(
            name: "SlateFetch",
            dependencies: [
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "EventStreams", package: "ModuleHostRedisStreams"),
                .product(name: "ModuleHostCore", package: "ModuleHost"),
                .product(name: "RedisStreams", package: "ModuleHostRedisStreams"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "slate-fetch",
            dependencies: [
                "SlateFetch", .product(name: "ModuleHostCore", package: "ModuleHost"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "SlateFetchTests",
            dependencies: [
                "SlateFetch", "slate-fetch",
                .product(name: "ModuleHostCore", package: "ModuleHost"),
                .product(name: "ModuleHostTesting", package: "ModuleHost"),
            ],
            path: "Tests", swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
