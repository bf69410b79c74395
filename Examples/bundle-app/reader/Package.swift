// swift-tools-version: 6.3

import PackageDescription

// ModuleHost is beside this package; in an app that is composed, the app's own takes its place.
let package = Package(
    name: "Reader",
    products: [.library(name: "Reader", targets: ["Reader"])],
    dependencies: [.package(name: "ModuleHost", path: "../ModuleHost")],
    targets: [
        .target(
            name: "Reader", dependencies: [.product(name: "ModuleHost", package: "ModuleHost")])
    ]
)
