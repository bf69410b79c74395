// swift-tools-version: 6.3

import PackageDescription

// ModuleHost is beside this package; in an app that is composed, the app's own takes its place.
let package = Package(
    name: "User",
    products: [.library(name: "User", targets: ["User"])],
    dependencies: [.package(name: "ModuleHost", path: "../ModuleHost")],
    targets: [
        .target(
            name: "User", dependencies: [.product(name: "ModuleHost", package: "ModuleHost")])
    ]
)
