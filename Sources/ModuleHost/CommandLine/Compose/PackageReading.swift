/// The reading of packages by SwiftPM, which runs their manifests.
struct PackageReading {
    let swift: String
    let folder: ComposeFolder
    let children: ComposeChildren

    /// The bytes of a description.
    private static let limit = 16 << 20

    /// Returns the contents of a package.
    ///
    /// They are kept, and SwiftPM is not started as long as the manifest stays as it is.
    ///
    /// - Parameters:
    ///   - checkout: The package.
    ///   - module: The module, for messages.
    /// - Returns: The contents.
    /// - Throws: ``ComposeError``.
    func contents(of checkout: Checkout, for module: String) throws(ComposeError) -> PackageContents
    {
        let place = checkout.folder
        guard fileExists("\(place)/Package.swift") else {
            throw ComposeError(
                "\(module): \(place) has no Package.swift: the class of an 'entry' is in a Swift package"
            )
        }
        let kept = "\(folder.caches)/\(checkout.source.name).package"
        let key = try key(of: place)
        if let bytes = try? readFile(at: kept, limit: Self.limit, links: .refused),
            bytes.starts(with: key),
            let contents = PackageContents(Array(bytes.dropFirst(key.count)))
        {
            return contents
        }
        children.progress.show("\(checkout.source.name): reading Package.swift")
        var output: [UInt8] = []
        var errors: [String] = []
        let exit = try children.run(
            [
                swift, "package", "--package-path", place, "--scratch-path",
                "\(folder.caches)/\(checkout.source.name)", "describe", "--type", "json",
            ], children.environment
        ) { stream, line in
            switch stream {
            case .output:
                if output.count < Self.limit { output += line + [UInt8(ascii: "\n")] }
            case .error:
                if errors.count < 1000 { errors.append(String(decoding: line, as: UTF8.self)) }
            }
        }
        guard exit == .code(0), let contents = PackageContents(output) else {
            let lines = errors.filter(ComposeBuild.isReason).prefix(8)
            throw ComposeError(
                "\(module): 'swift package describe' fails in \(place):"
                    + lines.map { "\n    \(excerpt($0, limit: 500))" as TerminalText }.joined())
        }
        try ComposeError.files { () throws(FileError) in
            try writeFile(key + output, to: kept)
        }
        return contents
    }

    /// Returns a line that changes with the manifests of a package and with the compiler.
    private func key(of place: String) throws(ComposeError) -> [UInt8] {
        let names = try ComposeError.files { () throws(FileError) in try namesInFolder(place) }
        var fingerprint = Fingerprint()
        fingerprint.add(file: swift)
        for name in names.sorted() where name.hasPrefix("Package") && name.hasSuffix(".swift") {
            fingerprint.add(file: "\(place)/\(name)")
        }
        return Array("\(fingerprint)\n".utf8)
    }
}
