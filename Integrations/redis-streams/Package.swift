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
    name: "ModuleHostRedisStreams",
    products: [
        .executable(name: "redis-bridge", targets: ["redis-bridge"]),
        .library(name: "EventStreams", targets: ["EventStreams"]),
        .library(name: "RedisStreams", targets: ["RedisStreams"]),
        .library(name: "FileStreams", targets: ["FileStreams"]),
    ],
    dependencies: [
        .package(name: "ModuleHost", path: "../..")
    ],
    targets: [
        // libhiredis-dev of Debian. Without pkg-config, whose -D_FILE_OFFSET_BITS SwiftPM warns of in each build.
        .systemLibrary(name: "CHiredis"),
        // The five verbs of an engine, and what engines have in common. It needs no host.
        .target(name: "EventStreams", swiftSettings: strict),
        .target(
            name: "RedisStreams", dependencies: ["CHiredis", "EventStreams"], swiftSettings: strict),
        .target(name: "FileStreams", dependencies: ["EventStreams"], swiftSettings: strict),
        // A bridge, which needs of a host what `BridgeHost` says.
        .target(
            name: "RedisBridge", dependencies: ["EventStreams", "RedisStreams"],
            swiftSettings: strict),
        // The program: the only target that needs ModuleHost.
        .executableTarget(
            name: "redis-bridge",
            dependencies: [
                "EventStreams", "RedisBridge",
                .product(name: "ModuleHostCore", package: "ModuleHost"),
            ],
            swiftSettings: strict),
        // One suite, which each engine passes, and the bridge. No test needs a host.
        .testTarget(
            name: "RedisStreamsTests",
            dependencies: ["EventStreams", "FileStreams", "RedisBridge", "RedisStreams"],
            path: "Tests", swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
