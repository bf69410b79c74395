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

    let swift: String
    let folder: ComposeFolder
    let children: ComposeChildren

    /// The lines that are read for errors.
    private static let limit = 100_000
    /// The lines that are shown of them.
    private static let shown = 60

    /// Builds the program.
    ///
    /// All that SwiftPM says is written to the folder's log.
    ///
    /// - Parameters:
    ///   - options: The options.
    ///   - owners: The folders of packages, with what messages call each.
    /// - Returns: The path of the program.
    /// - Throws: ``ComposeError``, with the compiler's lines of the packages that it reports errors in.
    func run(
        _ options: Options, owners: [(folder: String, name: String)]
    ) throws(ComposeError) -> String {
        let scratch = "\(folder.path)/\(options.scratch)"
        let log = try ComposeError.files { () throws(FileError) in
            try Descriptor(emptying: folder.log)
        }
        var lines: [String] = []
        let exit = try children.run(
            [
                swift, "build", "--package-path", folder.path, "--scratch-path", scratch,
                "--product", GeneratedPackage.target,
            ] + options.arguments, children.environment
        ) { _, line in
            // Text for a person to look into: where the disk is full, the build says so.
            try? log.writeAll(line + [UInt8(ascii: "\n")])
            let text = String(decoding: line, as: UTF8.self)
            if text.hasPrefix("[") {
                children.progress.show("building \(excerpt(text, limit: 70))")
            }
            if lines.count < Self.limit { lines.append(text) }
        }
        guard exit == .code(0) else {
            throw ComposeError(report(lines, exit, owners))
        }
        return "\(scratch)/\(options.configuration)/\(GeneratedPackage.target)"
    }

    // MARK: Errors

    private func report(
        _ lines: [String], _ exit: ChildProcess.Exit, _ owners: [(folder: String, name: String)]
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
            text = "the build fails: swift build \(exit)"
            let errors = Self.unique(lines.filter { $0.contains("error:") })
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
            if line.hasPrefix("/"), let end = line.firstRange(of: ": error: ") {
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

    private static func unique(_ lines: [String]) -> [String] {
        var seen: Set<String> = []
        return lines.filter { seen.insert($0).inserted }
    }
}
