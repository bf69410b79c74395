/// The work of `hostd compose`: from a slatefile to a program that is the host of its modules.
///
/// Each step leaves what it did in the folder, and does nothing where that is there: an interrupted compose
/// is continued by the next one. The program of before is replaced last, by one that was checked.
struct Compose {
    /// The app to compose, and how.
    struct Request {
        var slatefile: Slatefile
        /// The path of the slatefile, as it was given.
        var path: String
        /// The text of the slatefile.
        var text: [UInt8]
        /// The folder of the app, absolute.
        var folder: String
        /// The package ModuleHost.
        var host: Slatefile.Source
        var options = ComposeBuild.Options()
        /// The pins that move.
        var update = Update.none
        /// The module that the program is for, with those that it needs; nil for the whole app.
        var only: String?

        var slatefileFolder: String { parentFolder(of: CurrentProcess.absolute(path)) ?? "/" }
        var lockPath: String { ComposeLock.path(ofSlatefile: path) }
    }

    /// The pins that move to the newest commits of their branches or tags.
    enum Update: Hashable {
        case none
        case all
        /// The pin of the package of a module, by its id, or of the package ModuleHost: `host`.
        case one(String)
    }

    /// The name by which messages and options call the package ModuleHost.
    static let host = "host"

    let request: Request
    let plan: ComposePlan
    private typealias Repository = (
        source: PackageSource, user: String, users: [String], name: String
    )
    private let repositories: [Repository]
    /// The ids of the modules of the program, where it is not the whole app.
    let only: [String]
    let environment: [String: String]
    let progress: ComposeProgress

    /// Makes the plan, and changes nothing.
    ///
    /// - Throws: ``ComposeError``.
    init(
        _ request: Request, environment: [String: String], progress: ComposeProgress
    ) throws(ComposeError) {
        self.request = request
        self.environment = environment
        self.progress = progress
        let host: PackageSource
        do throws(PackageSource.SourceError) {
            host = try PackageSource(
                request.host, in: request.slatefileFolder, as: Self.hostFolder)
        } catch {
            throw ComposeError("the package of 'host': \(error.reason)", .noInput)
        }
        let needs = request.only.flatMap(request.slatefile.needs(of:))
        if let id = request.only, needs == nil {
            throw .unknown(id, in: request.slatefile, request.path)
        }
        only = needs ?? []
        plan = try ComposePlan(
            request.slatefile, path: request.path, folder: request.slatefileFolder, host: host,
            only: needs)
        repositories = Self.repositories(of: plan, in: request.slatefile)
        // SwiftPM names the generated package by its folder.
        let folderName = request.folder.split(separator: "/").last.map { $0.lowercased() }
        if let same = ([host] + plan.packages.map(\.source)).first(where: {
            $0.identity == folderName
        }) {
            throw ComposeError(
                "the folder \(request.folder) has the name of the package '\(same.name)', and SwiftPM "
                    + "names packages by their folders; name another one by --output", .cannotCreate
            )
        }
        if case .one(let name) = request.update, name != Self.host,
            !plan.packages.contains(where: { $0.ids.contains(name) })
        {
            let ids = plan.packages.filter { $0.source.repository != nil }.flatMap(\.ids)
            throw ComposeError(
                "no module \(quoted(name)) of \(request.path) has a repository"
                    + (ids.isEmpty ? "" : "; modules with a repository: \(enumerated(ids))"), .usage
            )
        }
    }

    /// Composes the app.
    ///
    /// - Returns: The program, and what it was composed of.
    /// - Throws: ``ComposeError``.
    func run() throws(ComposeError) -> ComposeResult {
        let folder = try ComposeFolder(request.folder)
        let children = ComposeChildren(environment: environment, progress: progress)
        var lock = try ComposeLock.read(request.lockPath)
        let program = "\(folder.binaries)/\(plan.program)"
        let stampPath = "\(folder.caches)/\(plan.program).stamp"
        if request.update == .none, isPinned(lock),
            filesStamp(folder).adding(lock.text).isKept(in: stampPath, of: program)
        {
            return ComposeResult(program: program, isChanged: false, composition: nil)
        }
        let packages = try checkOut(in: folder, children, &lock)
        let swift = try children.find(
            "swift", "install Swift 6.3, by swiftly or from https://www.swift.org/install")
        let reading = PackageReading(swift: swift, folder: folder, children: children)
        let generated = try ComposedProducts(plan, packages, reading, path: request.path)
            .package(named: plan.program, only: only)
        try folder.write(generated.manifest, to: folder.manifest)
        try folder.write(generated.main, to: folder.main)
        // Before the build: what is written meanwhile is a change.
        let files = filesStamp(folder)
        let build = ComposeBuild(
            options: request.options, swift: swift, folder: folder, children: children,
            owners: owners(packages, folder))
        try ComposeError.files { () throws(FileError) in
            try lock.packages.restore(to: folder.resolved)
        }
        if request.update == .all, !lock.packages.pins.isEmpty { try build.updatePackages() }
        progress.note("building \(plan.program); the output is in \(folder.log)")
        try build.run()
        try pinPackages(in: folder, &lock)
        try take(build, as: program, in: folder, children)
        try files.adding(lock.text).keep(in: stampPath, of: program)
        return ComposeResult(program: program, isChanged: true, composition: generated.composition)
    }

    // MARK: Commits

    /// Returns the repositories of a plan, each with its name in messages, its modules, and the name of its
    /// folder.
    private static func repositories(of plan: ComposePlan, in slatefile: Slatefile) -> [Repository]
    {
        var sources: [Slatefile.Source: Int] = [:]
        var ids: [String: Int] = [:]
        for (index, package) in plan.packages.enumerated() {
            sources[package.source.written] = index
            for id in package.ids { ids[id] = index }
        }
        // All of the slatefile, also where the program is of a part.
        var users = Array(repeating: [String](), count: plan.packages.count)
        for module in slatefile.modules where module.isEnabled {
            let id = module.id.text
            if let index = module.source.flatMap({ sources[$0] }) ?? ids[id] {
                users[index].append(id)
            }
        }
        let all =
            [(plan.host, host, [host], hostFolder)]
            + zip(plan.packages, users).map { package, users in
                (package.source, package.modules[0].id.text, users, package.source.name)
            }
        return all.filter { $0.0.repository != nil }
    }

    /// The folder of the package ModuleHost, which gives it its name for SwiftPM.
    static let hostFolder = "ModuleHost"

    private func isPinned(_ lock: ComposeLock) -> Bool {
        repositories.allSatisfy { lock.pin(of: $0.source) != nil }
    }

    private func isUpdated(_ users: [String]) -> Bool {
        switch request.update {
        case .none: false
        case .all: true
        case .one(let name): users.contains(name)
        }
    }

    /// Finds the commit of each repository, checks all out, and writes the lock.
    private func checkOut(
        in folder: ComposeFolder, _ children: ComposeChildren, _ lock: inout ComposeLock
    ) throws(ComposeError) -> [Checkout] {
        let before = lock
        var moves: [TerminalText] = []
        var pins: [ComposeLock.Pin] = []
        let git = Git(
            program: try children.find("git", "install git, such as by 'apt-get install git'"),
            children: children)
        let checkouts = Checkouts(folder: folder, git: git, progress: progress)
        var failures: [ComposeError] = []
        for (source, user, users, name) in repositories {
            guard let repository = source.repository else { continue }
            let pin = lock.pin(of: source)
            var commit = pin?.commit
            if commit == nil || isUpdated(users) {
                let newest: String
                do throws(ComposeError) {
                    newest = try checkouts.resolve(source, for: user)
                } catch {
                    guard error.signal == nil else { throw error }
                    failures.append(error)
                    continue
                }
                if let commit, commit != newest {
                    moves.append(
                        "\(name): the pin moves from \(commit.prefix(12)) to \(newest.prefix(12))")
                }
                commit = newest
            }
            pins.append(
                ComposeLock.Pin(
                    repository: repository, reference: source.reference, commit: commit ?? "",
                    users: users))
        }
        if let first = failures.first {
            throw ComposeError(failures.flatMap(\.reasons), first.exitCode)
        }
        lock.set(pins)
        lock.keep(repositories.map(\.source) + named)
        var packages = [try hostCheckout(checkouts, lock, folder)]
        for package in plan.packages {
            packages.append(
                try packageCheckout(package, checkouts, lock, folder))
        }
        if lock != before {
            // Not before: where a checkout is in the way, no pin moves.
            for move in moves { progress.note(move) }
            try ComposeError.files { () throws(FileError) in
                try writeFile(lock.text, to: request.lockPath)
            }
        }
        return packages
    }

    /// All that the slatefile names, whose pins stay where options name another host, or a part.
    private var named: [PackageSource] {
        let sources = request.slatefile.modules.map(\.source) + [request.slatefile.host]
        return sources.compactMap { source in
            source.flatMap { try? PackageSource($0, in: request.slatefileFolder) }
        }
    }

    func prepare(
        _ source: PackageSource, _ name: String, _ user: String, _ checkouts: Checkouts,
        _ lock: ComposeLock
    ) throws(ComposeError) -> Checkout {
        guard let pin = lock.pin(of: source) else {
            return try checkouts.describe(source, in: source.location)
        }
        return try checkouts.prepare(source, as: name, at: pin.commit, for: user)
    }
}

/// The outcome of composing.
struct ComposeResult {
    /// The path of the program.
    let program: String
    /// Whether it was built; false where nothing had changed.
    let isChanged: Bool
    /// The packages that it was composed of; nil where nothing had changed.
    let composition: HostComposition?
}
