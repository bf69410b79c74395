// swift-tools-version: 6.3

import PackageDescription

// ModuleHost is beside this package; in an app that is composed, the app's own takes its place.
let package = Package(
    name: "Push",
    products: [.library(name: "Push", targets: ["Push"])],
    dependencies: [.package(name: "ModuleHost", path: "../ModuleHost")],
    targets: [
        .target(
            name: "Push", dependencies: [.product(name: "ModuleHost", package: "ModuleHost")])
    ]
)
