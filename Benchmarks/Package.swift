// swift-tools-version: 6.3

import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// The settings of a target that uses declarations of `package` access in ModuleHost.
///
/// It is compiled as a part of that package, whose name the build makes of that of the folder above. The target has
/// `packageAccess: false`, or the build would name this package.
let inside: [SwiftSetting] = {
    let folder = Context.packageDirectory.split(separator: "/").dropLast().last ?? ""
    let name = folder.lowercased().enumerated().map { index, character in
        character.isASCII && (character.isLetter || index > 0 && character.isNumber)
            ? character : "_"
    }
    return strict + [.unsafeFlags(["-package-name", String(name)])]
}()

/// A target of the benchmark plug-in, which knows them by their place right in a folder `Benchmarks`.
///
/// - Parameters:
///   - name: The name of the target and of its folder.
///   - dependencies: What it needs beside the benchmark library.
///   - hasMain: Whether it has a `main.swift` in place of the `main` that the plug-in makes, which leaves the
///     main thread to Dispatch: a host needs it.
/// - Returns: The target.
func benchmark(
    _ name: String, _ dependencies: [Target.Dependency], hasMain: Bool = false
) -> Target {
    .executableTarget(
        name: name,
        dependencies: dependencies + [.product(name: "Benchmark", package: "benchmark")],
        path: name, swiftSettings: strict,
        plugins: hasMain ? [] : [.plugin(name: "BenchmarkPlugin", package: "benchmark")])
}

// Here, and only here, the ecosystem is welcome: it stands beside ours to be measured.
let package = Package(
    name: "Benchmarks",
    dependencies: [
        .package(name: "ModuleHost", path: ".."),
        // Without its traits: they would interpose malloc and retain, and so slow down what is timed.
        .package(url: "https://github.com/ordo-one/benchmark", exact: "1.38.1", traits: []),
        .package(
            url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    ],
    targets: [
        benchmark(
            "FanOut",
            [
                "AllocationCount", "MeasuredModules",
                .product(name: "ModuleHost", package: "ModuleHost"),
            ], hasMain: true),
        benchmark(
            "Startup", ["PthreadTasks", .product(name: "AppService", package: "ModuleHost")]),
        benchmark(
            "Calls", ["MeasuredModules", .product(name: "ModuleHost", package: "ModuleHost")],
            hasMain: true),
        benchmark("Slatefiles", [.product(name: "ModuleHost", package: "ModuleHost")]),

        .executableTarget(
            name: "Signals",
            dependencies: [
                "MeasuredModules", "Served", .product(name: "ModuleHost", package: "ModuleHost"),
            ],
            swiftSettings: strict),

        // Control and Soak spawn hostd, and so need nothing of it.
        .target(name: "Served", swiftSettings: strict),
        .executableTarget(name: "Control", dependencies: ["Served"], swiftSettings: strict),
        .executableTarget(name: "Soak", dependencies: ["Served"], swiftSettings: strict),

        .executableTarget(
            name: "Hung",
            dependencies: ["Served", .product(name: "ModuleHost", package: "ModuleHost")],
            swiftSettings: strict),
        .executableTarget(
            name: "Scale",
            dependencies: [
                "PlainModules", "Served", .product(name: "ModuleHost", package: "ModuleHost"),
            ],
            swiftSettings: strict),
        // A host as hostd is, of modules that do nothing, and the peer of one with many.
        .executableTarget(
            name: "PlainHost",
            dependencies: ["PlainModules", .product(name: "ModuleHost", package: "ModuleHost")],
            swiftSettings: strict),
        .executableTarget(
            name: "ServiceGroupPeer",
            dependencies: [
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ], swiftSettings: strict),
        .executableTarget(
            name: "Sins",
            dependencies: ["Served", .product(name: "ModuleHost", package: "ModuleHost")],
            swiftSettings: strict),

        // Without Foundation, as hostd: modules run in this very binary. What they are measured beside needs it.
        .executableTarget(
            name: "Isolated", dependencies: [.product(name: "ModuleHost", package: "ModuleHost")],
            swiftSettings: strict),
        .executableTarget(name: "EchoChild", swiftSettings: strict),

        .executableTarget(
            name: "TestHosts",
            dependencies: [
                .product(name: "ModuleHost", package: "ModuleHost"),
                .product(name: "ModuleHostTesting", package: "ModuleHost"),
            ],
            swiftSettings: strict),

        .executableTarget(
            name: "Routing",
            dependencies: ["URLTrie", .product(name: "ModuleHost", package: "ModuleHost")],
            packageAccess: false, swiftSettings: inside),
        .target(name: "URLTrie"),
        .executableTarget(
            name: "Inbox",
            dependencies: [
                "InboxFile", "Served", .product(name: "ModuleHost", package: "ModuleHost"),
            ],
            swiftSettings: strict),
        // Apart, since `Served` is of this package.
        .target(
            name: "InboxFile",
            dependencies: [.product(name: "ModuleHost", package: "ModuleHost")],
            packageAccess: false, swiftSettings: inside),

        .executableTarget(
            name: "Later",
            dependencies: [
                "HeapSize", "Served", .product(name: "ModuleHost", package: "ModuleHost"),
            ],
            swiftSettings: strict + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]),

        // Apart from the loops that call them, as modules are in life.
        .target(
            name: "MeasuredModules",
            dependencies: ["Served", .product(name: "ModuleHost", package: "ModuleHost")],
            swiftSettings: strict),
        // Without Foundation, as the host of them.
        .target(
            name: "PlainModules",
            dependencies: [.product(name: "ModuleHost", package: "ModuleHost")],
            swiftSettings: strict),
        .target(name: "AllocationCount"),
        .target(name: "HeapSize"),
        .target(name: "PthreadTasks"),
    ],
    swiftLanguageModes: [.v6]
)
