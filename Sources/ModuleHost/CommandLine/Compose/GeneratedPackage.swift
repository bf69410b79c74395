/// The package that is built: a program that is linked with the products of the modules.
struct GeneratedPackage {
    /// A package with the products that the program is linked with.
    struct Dependency: Hashable {
        let name: String
        let folder: String
        var products: [String]
    }

    /// The name of the target and of the executable, which no module can have: an id names no such target.
    static let target = "ComposedHost"

    /// The name of the program.
    let program: String
    /// ModuleHost first.
    let dependencies: [Dependency]
    let composition: HostComposition

    /// The text of `Package.swift`.
    ///
    /// The packages are named by their folders, and so override those of the same name that modules name by a
    /// URL or another path.
    var manifest: String {
        let packages = dependencies.map { ".package(path: \(swiftLiteral($0.folder)))" }
        let products = dependencies.flatMap { dependency in
            dependency.products.map {
                ".product(name: \(swiftLiteral($0)), package: \(swiftLiteral(dependency.name)))"
            }
        }
        return filledTemplate(
            PackageResources.ComposedPackage_swift_template,
            [
                "__TARGET__": Self.target,
                "__PACKAGES__": packages.joined(separator: ",\n        "),
                "__PRODUCTS__": products.joined(separator: ",\n                "),
            ])
    }

    /// The text of `main.swift`.
    var main: String {
        let records = composition.packages.map { package in
            var parts = ["name: \(swiftLiteral(package.name))"]
            if !package.modules.isEmpty { parts.append("modules: \(literal(package.modules))") }
            if !package.targets.isEmpty { parts.append("targets: \(literal(package.targets))") }
            parts.append("source: \(swiftLiteral(package.source))")
            if let reference = package.reference {
                parts.append("reference: \(swiftLiteral(reference))")
            }
            if let commit = package.commit { parts.append("commit: \(swiftLiteral(commit))") }
            if package.isModified { parts.append("isModified: true") }
            return ".init(\n            \(parts.joined(separator: ", ")))"
        }
        return filledTemplate(
            PackageResources.composed_main_swift_template,
            [
                "__PROGRAM__": swiftLiteral(program),
                "__PACKAGES__": records.joined(separator: ",\n        "),
                "__ONLY__": composition.only.isEmpty ? "" : ", only: \(literal(composition.only))",
            ])
    }

    private func literal(_ texts: [String]) -> String {
        "[\(texts.map { swiftLiteral($0) }.joined(separator: ", "))]"
    }
}

/// Returns the text as a literal of Swift.
func swiftLiteral(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\\", "\"": result += "\\\(scalar)"
        case " "..."~": result.unicodeScalars.append(scalar)
        default: result += "\\u{\(String(scalar.value, radix: 16))}"
        }
    }
    return result + "\""
}
