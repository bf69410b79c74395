import AppService

/// The products and targets of a package, as `swift package describe` lists them.
struct PackageContents {
    /// A product that a host can be linked with.
    struct Product: Hashable {
        let name: String
        /// Whether it is a library that is linked into the program.
        let isStaticLibrary: Bool
        /// The kind in words, where it is not: `an executable`.
        let kind: String
        /// Whether it is an executable, which SwiftPM lists for each executable target, declared or not.
        let isExecutable: Bool
    }

    struct Target: Hashable {
        let name: String
        /// The products that have it, or depend on it.
        let products: [String]
        let isTest: Bool
    }

    /// A package that it depends on, by its folder.
    struct Folder: Hashable {
        let identity: String
        let path: String
    }

    let products: [Product]
    let targets: [Target]
    let folders: [Folder]

    /// Reads the output of the command; nil where that is not valid.
    init?(_ text: [UInt8]) {
        guard let root = try? JSONValue(parsing: text), let products = root["products"]?.elements,
            let targets = root["targets"]?.elements
        else { return nil }
        self.products = products.compactMap { product in
            product["name"]?.string.map { Product($0, product["type"]) }
        }
        folders =
            (root["dependencies"]?.elements).map(Array.init)?.compactMap { dependency in
                guard let identity = dependency["identity"]?.string,
                    let path = dependency["path"]?.string
                else { return nil }
                return Folder(identity: identity, path: path)
            } ?? []
        self.targets = targets.compactMap { target in
            guard let name = target["name"]?.string else { return nil }
            return Target(
                name: name,
                products: target["product_memberships"]?.elements.compactMap(\.string) ?? [],
                isTest: target["type"]?.string == "test")
        }
    }

    /// Returns whether a target takes part in a program that is linked with some of the products.
    ///
    /// For SwiftPM, all targets of libraries do, also of those that the program is not linked with.
    func takesPart(_ target: Target, in linked: [String]) -> Bool {
        target.products.contains { name in
            linked.contains(name) || products.contains { $0.name == name && !$0.isExecutable }
        }
    }

    /// Returns the product that has the class of an entry.
    ///
    /// - Parameters:
    ///   - entry: The entry, `Target.Type`.
    ///   - product: The product that the slatefile names; nil for the first library with the target.
    /// - Returns: The name of the product.
    /// - Throws: The reason, with the remedy.
    func product(
        for entry: String, named product: String?
    ) throws(ContentsError) -> String {
        let libraries = products.filter(\.isStaticLibrary)
        if let product {
            guard let found = products.first(where: { $0.name == product }) else {
                throw ContentsError(reason: lacks("product", product, products.map(\.name)))
            }
            guard found.isStaticLibrary else {
                throw ContentsError(
                    reason: "the product '\(product)' is \(found.kind): "
                        + "name a '.library' product without a type")
            }
            return product
        }
        let name = String(entry.prefix { $0 != "." })
        let others = targets.filter { !$0.isTest }
        guard let target = others.first(where: { $0.name == name }) else {
            throw ContentsError(reason: lacks("target", name, others.map(\.name)))
        }
        // The library of the same name before others that have the target, too.
        let candidates = libraries.map(\.name).filter(target.products.contains)
        if let found = candidates.first(where: { $0 == name }) ?? candidates.first { return found }
        let kinds = products.filter { target.products.contains($0.name) }
        let reason =
            kinds.isEmpty
            ? "no product has the target '\(name)'"
            : "the target '\(name)' is only in "
                + kinds.map { "'\($0.name)', \($0.kind)" }.joined(separator: ", and ")
        throw ContentsError(
            reason: reason + ": add '.library(name: \"\(name)\", targets: [\"\(name)\"])' to the "
                + "products of its Package.swift")
    }

    struct ContentsError: Error, Hashable {
        let reason: String
    }

    private func lacks(_ kind: String, _ name: String, _ names: [String]) -> String {
        let nearest = nearestName(to: name, in: names).map { "; did you mean \(quoted($0))?" }
        let all = names.prefix(12).map { quoted($0) }.joined(separator: ", ")
        return "the package has no \(kind) \(quoted(name))"
            + (nearest ?? (names.isEmpty ? "" : "; it has \(all)"))
    }
}

extension PackageContents.Product {
    fileprivate init(_ name: String, _ type: JSONValue?) {
        self.name = name
        isExecutable = type?["executable"] != nil
        switch (type?["library"]?.elements).flatMap({ $0.first { _ in true } })?.string {
        case "automatic", "static": (isStaticLibrary, kind) = (true, "a library")
        case "dynamic": (isStaticLibrary, kind) = (false, "a dynamic library")
        default:
            (isStaticLibrary, kind) =
                (false, isExecutable ? "an executable" : "not a library")
        }
    }
}
