// swift-tools-version: 6.3

import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

// A host of one's own needs no more than this: the library, and modules.
let package = Package(
    name: "Examples",
    dependencies: [.package(name: "ModuleHost", path: "..")],
    targets: [
        .executableTarget(
            name: "ExampleHost",
            dependencies: [
                .product(name: "ModuleHost", package: "ModuleHost"),
                .product(name: "Modules", package: "ModuleHost"),
            ],
            path: "Host", exclude: ["slatefile.json"], swiftSettings: strict)
    ],
    swiftLanguageModes: [.v6]
)
