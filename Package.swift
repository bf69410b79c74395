// swift-tools-version: 6.3

import PackageDescription

// The root package has no package dependency, and must not get one: what wants the ecosystem lives
// in a nested package (Benchmarks/) that depends on this one.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

// hostd → ModuleHost and Modules → ModuleHostCore → AppService, no arrow back.
let package = Package(
    name: "ModuleHost",
    products: [
        .executable(name: "hostd", targets: ["hostd"]),
        .library(name: "AppService", targets: ["AppService"]),
        // With the commands, for a program that is a host; without them, for one that embeds a host.
        .library(name: "ModuleHost", targets: ["ModuleHost"]),
        .library(name: "ModuleHostCore", targets: ["ModuleHostCore"]),
        .library(name: "Modules", targets: ["Modules"]),
        .library(name: "ModuleHostTesting", targets: ["ModuleHostTesting"]),
    ],
    targets: [
        .target(name: "AppService", swiftSettings: strict),
        .target(
            name: "ModuleHostCore", dependencies: ["AppService"], path: "Sources/ModuleHost",
            exclude: ["CommandLine"],
            // The page of `hostd routes`.
            resources: [.embedInCode("Routing/Document/Page")], swiftSettings: strict),
        // The commands, and by its exports all of the host: a line changed here costs a tenth of one there.
        .target(
            name: "ModuleHost", dependencies: ["ModuleHostCore"],
            path: "Sources/ModuleHost/CommandLine",
            // What `hostd new` makes modules of: a host may be one file, without others beside it.
            resources: [.embedInCode("Templates")], swiftSettings: strict),
        .target(name: "Modules", dependencies: ["ModuleHostCore"], swiftSettings: strict),
        .executableTarget(
            name: "hostd", dependencies: ["ModuleHost", "Modules"], swiftSettings: strict),

        // A host for the tests of modules: of authors, and of this package.
        .target(
            name: "ModuleHostTesting", dependencies: ["ModuleHostCore"],
            path: "Tests/ModuleHostTesting",
            // A test on the main actor stays there while it uses a host.
            swiftSettings: strict + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]),
        .target(
            name: "TestSupport", dependencies: ["ModuleHostTesting"], path: "Tests/TestSupport",
            swiftSettings: strict),
        // What tests give a host to deal with. It needs nothing of this package, and is nobody's product.
        .executableTarget(
            name: "MisbehavingModule", path: "Tests/MisbehavingModule", swiftSettings: strict),
        // A program with a host inside of it.
        .executableTarget(
            name: "EmbeddedHost", dependencies: ["Modules"], path: "Tests/EmbeddedHost",
            swiftSettings: strict),
        // A host of one's own, with modules that crash it.
        .executableTarget(
            name: "TestHost", dependencies: ["ModuleHost", "Modules"], path: "Tests/TestHost",
            // Its asynchronous code stays in the module.
            swiftSettings: strict + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]),
        .testTarget(
            name: "AppServiceTests", dependencies: ["AppService", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "ModuleHostTests", dependencies: ["ModuleHost", "TestSupport"],
            exclude: ["Inputs", "Lane/Model/Mutants", "Inbox/Model/Mutants"], swiftSettings: strict),
        // A slice of what scripts/life explores, which builds the same files as a program.
        .testTarget(
            name: "ModuleLifeTests", path: "Tests/ModuleLife",
            exclude: ["README.md", "mutants.json", "Explore.swift"], swiftSettings: strict),
        .testTarget(
            name: "ModulesTests", dependencies: ["ModuleHost", "Modules", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "HostdTests", dependencies: ["hostd", "TestSupport"], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
