/// The build of the generated package, and what is shown of its errors.
struct ComposeBuild {
    /// The options of a build.
    struct Options: Hashable {
        var isRelease = false
        /// Whether the program needs no other file.
        var isStatic = false

        /// The arguments of `swift build` for them.
        fileprivate var arguments: [String] {
            (isRelease || isStatic ? ["-c", "release"] : [])
                + (isStatic ? ["--static-swift-stdlib", "-Xswiftc", "-static-executable"] : [])
        }

        /// The build folder.
        ///
        /// Static builds have one of their own: a change of flags rebuilds everything.
        fileprivate var scratch: String { isStatic ? ".build-static" : ".build" }
        fileprivate var configuration: String { isRelease || isStatic ? "release" : "debug" }
    }

    let options: Options
    let swift: String
    let folder: ComposeFolder
    let children: ComposeChildren
    /// The folders of packages, with what messages call each.
    let owners: [(folder: String, name: String)]

    /// The lines that are read for errors.
    private static let limit = 100_000
    /// The lines that are shown of them.
    private static let shown = 60

    private var scratch: String { "\(folder.path)/\(options.scratch)" }

    /// The folder of what is built.
    var products: String { "\(scratch)/\(options.configuration)" }

    /// The path of the program.
    var program: String { "\(products)/\(GeneratedPackage.target)" }

    /// Returns the names of the folders with resources of targets, which the program looks for beside itself.
    func resources() throws(FileError) -> [String] {
        try namesInFolder(products).filter {
            $0.hasSuffix(".resources") && !$0.hasPrefix(".")
        }
    }

    /// Builds the program.
    ///
    /// All that SwiftPM says is written to the folder's log.
    ///
    /// - Throws: ``ComposeError``, with the compiler's lines of the packages that it reports errors in.
    func run() throws(ComposeError) {
        // SwiftPM keeps its plan as long as the package that it builds has the same files. A file more, or
        // another manifest, in a package of a module would not count.
        try runSwift(
            ["build"],
            ["--product", GeneratedPackage.target, "--disable-build-manifest-caching"]
                + options.arguments)
    }

    /// Lets SwiftPM choose the newest versions of the packages beyond those of the slatefile.
    ///
    /// - Throws: ``ComposeError``, with what SwiftPM says.
    func updatePackages() throws(ComposeError) {
        try runSwift(["package"], ["update"])
    }

    private func runSwift(_ command: [String], _ rest: [String]) throws(ComposeError) {
        let log = try ComposeError.files { () throws(FileError) in
            try Descriptor(emptying: folder.log)
        }
        var lines: [String] = []
        let exit = try children.run(
            [swift] + command + ["--package-path", folder.path, "--scratch-path", scratch] + rest,
            children.environment
        ) { _, line in
            // Text for a person to look into: where the disk is full, the build says so.
            try? log.writeAll(line + [UInt8(ascii: "\n")])
            let text = String(decoding: line, as: UTF8.self)
            if text.hasPrefix("[") {
                children.progress.show("building \(excerpt(text, limit: 70))")
            } else if text.hasPrefix("Another instance of SwiftPM") {
                // The build of a compose that was killed.
                children.progress.show("waiting for a build that still runs in \(scratch)")
            }
            if lines.count < Self.limit { lines.append(text) }
        }
        guard exit == .code(0) else { throw ComposeError(report(lines, exit, command[0])) }
    }

    // MARK: Errors

    private func report(
        _ lines: [String], _ exit: ChildProcess.Exit, _ command: String
    ) -> TerminalText {
        let blocks = Self.blocks(of: lines)
        var text: TerminalText = ""
        var room = Self.shown
        // The innermost folder: a package may be inside of another.
        let places = blocks.map { block in
            owners.indices.filter { block.file.hasPrefix("\(owners[$0].folder)/") }
                .max { owners[$0].folder.utf8.count < owners[$1].folder.utf8.count }
        }
        for (place, owner) in owners.enumerated() {
            let own = zip(blocks, places).filter { $1 == place }.map(\.0)
            guard !own.isEmpty else { continue }
            if text.count > 0 { text += "\n" }
            text += "\(owner.name) does not compile:"
            for line in own.flatMap(\.lines).prefix(max(room, 0)) {
                text += "\n    \(excerpt(line, limit: 300))"
                room -= 1
            }
        }
        if text.count == 0 {
            // Not the code of a package: its dependencies, the linker, the disk.
            text = "the build fails: swift \(command) \(exit)"
            let errors = Self.unique(lines.filter(Self.isReason))
            for line in (errors.isEmpty ? lines.suffix(10) : errors.prefix(12)) {
                text += "\n    \(excerpt(line, limit: 1200))"
            }
        }
        return text + "\nthe whole output is in \(folder.log)"
    }

    /// Returns the errors of the compiler, each with the lines that belong to it: once, though the compiler
    /// may report it for several jobs.
    static func blocks(of lines: [String]) -> [(file: String, lines: [String])] {
        var blocks: [(file: String, lines: [String])] = []
        var seen: Set<String> = []
        var isOpen = false
        for line in lines {
            if line.hasPrefix("/"), let end = line.firstRange(ofBytes: ": error: ") {
                isOpen = seen.insert(line).inserted
                let file = line[..<end.lowerBound].prefix { $0 != ":" }
                if isOpen { blocks.append((String(file), [line])) }
            } else if isOpen {
                // The lines of the source with their numbers, and notes below them.
                let isPart = line.first.map { $0 == " " || $0.isNumber } ?? false
                if isPart { blocks[blocks.count - 1].lines.append(line) } else { isOpen = false }
            }
        }
        return blocks
    }

    /// Returns whether a line of SwiftPM has a reason: the last error only repeats that there was one.
    static func isReason(_ line: String) -> Bool {
        line.contains(bytesOf: "error:") && !line.hasPrefix("error: fatalError")
            && !line.hasPrefix("error: ExitCode(")
    }

    private static func unique(_ lines: [String]) -> [String] {
        var seen: Set<String> = []
        return lines.filter { seen.insert($0).inserted }
    }
}
