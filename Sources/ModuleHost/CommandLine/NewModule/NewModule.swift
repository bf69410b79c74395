/// A module to be created: its files, and its entry in the slatefile of its app.
struct NewModule {
    let names: ModuleNames
    let app: AppFolder
    let layout: ModuleLayout
    /// The destination of the entry.
    let listing: Listing

    enum Listing {
        /// A slatefile that is created with it.
        case new(String)
        /// The existing slatefile, which gets this text.
        case added([UInt8])
        /// None: the entry is printed, to be added by hand.
        case byHand
    }

    /// Checks the existing files, and creates nothing.
    ///
    /// - Parameters:
    ///   - names: The names of the module.
    ///   - app: The folder of its app; without a slatefile there, one is created.
    ///   - layout: The layout of the module.
    ///   - isToBeAdded: Whether its entry is added to an existing slatefile.
    ///   - program: The name of the program, for errors.
    /// - Throws: ``NewModuleError``.
    init(
        _ names: ModuleNames, in app: AppFolder, _ layout: ModuleLayout, isToBeAdded: Bool,
        program: String
    ) throws(NewModuleError) {
        self.names = names
        self.app = app
        self.layout = layout
        let entry = Self.entry(names, layout)
        if NewFiles.isTaken(app.slatefile) {
            let text = try Self.slatefile(app.slatefile, program)
            guard !text.has(names.id) else { throw .listed(names.id, in: app.slatefile) }
            listing = isToBeAdded ? .added(text.adding(entry)) : .byHand
        } else {
            listing = .new(Self.firstSlatefile(names, entry, layout.schema))
        }
        let taken = layout.files.map { app.path(of: $0.name) }.filter(NewFiles.isTaken)
        guard taken.isEmpty else { throw .taken(taken) }
        var files = layout.files.map { (path: app.path(of: $0.name), text: $0.text) }
        if case .new(let text) = listing { files.append((app.slatefile, text)) }
        for (name, text) in layout.extras where !NewFiles.isTaken(app.path(of: name)) {
            files.append((app.path(of: name), text))
        }
        self.files = files
        links = layout.links.map { (app.path(of: $0.name), $0.target) }
            .filter { !NewFiles.isTaken($0.0) }
    }

    /// The module's entry in the slatefile.
    var entry: SlatefileEntry { Self.entry(names, layout) }

    /// The files to create, by their paths.
    let files: [(path: String, text: String)]
    /// The links to create, by their paths.
    let links: [(path: String, target: String)]

    /// Creates all files, or none.
    ///
    /// - Throws: ``NewModuleError``.
    func make() throws(NewModuleError) {
        var made = NewFiles()
        do throws(FileError) {
            for (path, text) in files { try made.make(path, text) }
            for (path, target) in links { try made.link(path, to: target) }
            if case .added(let text) = listing { try replaceFile(app.slatefile, with: text) }
        } catch {
            made.undo()
            throw .failed(error)
        }
    }

    private static func entry(_ names: ModuleNames, _ layout: ModuleLayout) -> SlatefileEntry {
        SlatefileEntry(
            members: [
                ("id", "\"\(names.id)\""), layout.implementation,
            ] + layout.declared + (layout.config.map { [("config", $0)] } ?? []))
    }

    private static func slatefile(
        _ path: String, _ program: String
    ) throws(NewModuleError) -> SlatefileText {
        let bytes: [UInt8]
        do throws(FileReadError) {
            bytes = try readFile(at: path, limit: 16 << 20)
        } catch {
            throw .unreadable(error)
        }
        do throws(SlatefileText.FormatError) {
            return try SlatefileText(bytes)
        } catch {
            throw .invalid(path, error.description, program: program)
        }
    }

    private static func firstSlatefile(
        _ names: ModuleNames, _ entry: SlatefileEntry, _ schema: String?
    ) -> String {
        """
        {
        \(schema.map { "  \"$schema\": \"\($0)\",\n" } ?? "")  "slate": 1,
          "app": "\(names.label)",
          "schemes": ["\(names.label.lowercased())"],
          "modules": [
            { "id": "\(names.main)", "entry": "Modules.MainModule", "main": true },
            \(entry.lines("    "))
          ]
        }

        """
    }
}
