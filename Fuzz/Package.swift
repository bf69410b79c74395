// swift-tools-version: 6.3

import PackageDescription

/// One executable for each reader of input from outside.
///
/// The flag that makes the code count its own branches must reach the root package too, so it is given
/// on the command line: see README.md. The linker must be lld; gold fails on what libFuzzer brings.
func fuzzTarget(_ name: String) -> Target {
    .executableTarget(
        name: name,
        dependencies: ["FuzzDriver", .product(name: "ModuleHost", package: "root")],
        linkerSettings: [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])])
}

let package = Package(
    name: "Fuzz",
    dependencies: [.package(name: "root", path: "..")],
    targets: [
        .target(name: "FuzzDriver"),
        fuzzTarget("RoutingFuzz"),
        fuzzTarget("SlatefileFuzz"),
        fuzzTarget("ControlFuzz"),
        fuzzTarget("InboxFuzz"),
    ],
    swiftLanguageModes: [.v6]
)
