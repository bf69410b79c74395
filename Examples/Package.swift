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
            path: "Host", exclude: ["slatefile.json"], swiftSettings: strict),
        .executableTarget(
            name: "Shop", dependencies: [.product(name: "ModuleHost", package: "ModuleHost")],
            path: "Shop", exclude: ["slatefile.json"], swiftSettings: strict),
        .testTarget(
            name: "ShopTests",
            dependencies: [
                "Shop", .product(name: "ModuleHostTesting", package: "ModuleHost"),
            ],
            path: "Tests", swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
