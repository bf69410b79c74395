import AppService

/// A lookup of a module's class by its name in the slatefile: `Target.Type`.
///
/// Nothing is registered: the class is looked up among those of the running binary, by its mangled name. That
/// finds it in a release build, statically linked and stripped, even where no code imports its target.
package struct EntryType {
    /// The extent of the search for an intended name.
    package enum Search {
        case none
        /// Other spellings, and other targets: some hundred lookups, about two milliseconds.
        case spellings
        /// Also every name that differs by one typing error: some thousand lookups, about a tenth of a
        /// second.
        case all
    }

    /// The class.
    package let type: any Module.Type

    /// Looks an entry up.
    ///
    /// - Parameters:
    ///   - entry: The name, such as `Modules.PushModule`.
    ///   - targets: Targets that other entries of the slatefile name, in which a class is searched whose
    ///     target was left out.
    ///   - search: The extent of the search for the name that an unknown one may be meant as.
    /// - Throws: ``EntryError``, which distinguishes an unknown name from a type that is not a module.
    package init(
        _ entry: String, targets: [String] = [], search: Search = .all
    ) throws(EntryError) {
        if let known = Self.known.withLock({ $0[entry] }) as? any Module.Type {
            type = known
            return
        }
        guard let name = EntryName(entry) else {
            let offer =
                search == .none
                ? nil : EntryName.offers(for: entry, targets: targets).first(where: \.isModule)
            throw .malformed(entry, nearest: offer?.description)
        }
        guard let found = name.lookUp() else {
            let offer =
                search == .none
                ? nil
                : name.neighbours(targets: targets, withSlips: search == .all)
                    .first(where: \.isModule)
            throw .notFound(entry, target: name.target, nearest: offer?.description)
        }
        guard let type = found.type as? any Module.Type else {
            throw .noModule(entry, kind: found.kind)
        }
        self.type = type
        Self.known.withLock { $0[entry] = found.type }
    }

    /// Makes a class known by a name of the form of an entry, and returns the name.
    ///
    /// For a class that no lookup finds: one that is nested, private, generic or local.
    static func name(of type: any Module.Type) -> String {
        let parts = String(reflecting: type).split(
            separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let letters = parts.count < 2 ? "" : String(parts[1])
        let entry =
            "\(parts.first ?? "")."
            + String(letters.map { isIdentifier("_\($0)") ? $0 : "_" })
        known.withLock { $0[entry] = type }
        return entry
    }

    /// All module classes of this binary that a slatefile can name, by their names, in alphabetical order.
    ///
    /// Some milliseconds: the runtime creates the metadata of each class that it has not used.
    package static var all: [(entry: String, type: any Module.Type)] {
        ProgramTypes.classes().compactMap { name in
            // Those of this library are made by the host, and not by a slatefile.
            guard name.target != "ModuleHostCore", isIdentifier(name.target),
                isIdentifier(name.type),
                let type = EntryName(target: name.target, type: name.type).lookUp()?.type
                    as? any Module.Type
            else { return nil }
            return ("\(name.target).\(name.type)", type)
        }.sortedByText(\.entry)
    }

    /// The classes that were found: the runtime parses a name at each lookup.
    ///
    /// At most as many as there are module classes in this binary.
    private static let known = Guarded<[String: Any.Type]>([:])
}

/// The reason why an entry is not a module.
package enum EntryError: Error, Hashable, Sendable {
    /// The entry is not the name of a top-level class; `nearest` is the probably intended name.
    case malformed(String, nearest: String?)
    /// No type in this binary has that name; `nearest` is a module with a similar name.
    case notFound(String, target: String, nearest: String?)
    /// No type in this binary has that name, but this source of it was changed after the binary was built.
    case notBuilt(String, source: String)
    /// No type in this binary has that name, but a package in which it was not built has this source of it.
    case builtElsewhere(String, source: String)
    /// No type in this binary is of that target, which belongs to another program: the executable `host` of the
    /// package with `source`.
    case otherHost(String, source: String, host: String)
    /// No type in this binary has that name, and the slatefile says where the source of the module is.
    case notComposed(String)
    /// There is such a type, of this kind, but it is not a module.
    case noModule(String, kind: String)
}

extension EntryError: CustomStringConvertible {
    /// The error and the remedy.
    ///
    /// For example `no class 'Modules.PushModul' in this binary; did you mean 'Modules.PushModule'?`
    public var description: String {
        switch self {
        case .malformed(let entry, let nearest?):
            "\(quoted(entry)) is not an entry; did you mean '\(nearest)'?"
        case .malformed(let entry, nil):
            "\(quoted(entry)) is not an entry; one is \"Target.Type\", a top-level class and its target"
        case .notFound(let entry, _, let nearest?):
            "no class '\(entry)' in this binary; did you mean '\(nearest)'?"
        case .notFound(let entry, let target, nil):
            "no class '\(entry)' in this binary: it is misspelt, or target '\(target)' is not "
                + "linked into it (add it to the dependencies of the executable)"
        case .notBuilt(let entry, let source):
            "no class '\(entry)' in this binary: '\(source)' is newer than the binary; "
                + "run 'swift build' and restart the host"
        case .builtElsewhere(let entry, let source):
            "no class '\(entry)' in this binary: '\(source)' is of a package that this binary was not built "
                + "in; 'swift run' in that package runs a host that has it"
        case .otherHost(let entry, let source, let host):
            "this binary is not the app's host: run 'swift run \(host) check' in the package of '\(source)' "
                + "(no class '\(entry)' here)"
        case .notComposed(let entry):
            "no class '\(entry)' in this binary: 'hostd compose' builds a host with the modules whose source "
                + "the slatefile names"
        case .noModule(let entry, "class"):
            "class '\(entry)' is not a module: make it conform to 'Module'"
        case .noModule(let entry, let kind):
            "'\(entry)' is \(kind): a module is a class that conforms to 'Module'"
        }
    }
}

/// The two parts of an entry.
private struct EntryName: CustomStringConvertible {
    let target: String
    let type: String

    init(target: String, type: String) {
        self.target = target
        self.type = type
    }

    init?(_ entry: String) {
        let parts = entry.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy(isIdentifier) else { return nil }
        self.init(target: String(parts[0]), type: String(parts[1]))
    }

    var description: String { "\(target).\(type)" }

    /// Returns the type of that name, with its kind in words; classes first.
    func lookUp() -> (type: Any.Type, kind: String)? {
        let name = "\(target.utf8.count)\(target)\(type.utf8.count)\(type)"
        for (suffix, kind) in [("C", "class"), ("V", "a struct"), ("O", "an enum")] {
            if let type = _typeByName(name + suffix) { return (type, kind) }
        }
        return nil
    }

    /// Whether a module's class has this name.
    var isModule: Bool {
        let name = "\(target.utf8.count)\(target)\(type.utf8.count)\(type)C"
        return _typeByName(name) is any Module.Type
    }

    /// Returns names that a malformed entry may be meant as.
    static func offers(for entry: String, targets: [String]) -> some Sequence<EntryName> {
        let parts =
            entry.utf8.count > 2 * longestOffered
            ? [] : entry.split(separator: ".").filter(isIdentifier).map(String.init)
        let names =
            switch parts.count {
            case 0: [EntryName]()
            case 1: targets.map { EntryName(target: $0, type: parts[0]) }
            default: [EntryName(target: parts[0], type: parts[parts.count - 1])]
            }
        return names.lazy.flatMap { name in
            [name] + name.spellings + targets.map { EntryName(target: $0, type: name.type) }
        }
    }

    /// Returns names that this one may be meant as, likelier ones first.
    ///
    /// They are tried one by one; ``EntryType/all`` would have to make the metadata of every class.
    func neighbours(targets: [String], withSlips: Bool) -> some Sequence<EntryName> {
        guard max(target.utf8.count, type.utf8.count) <= Self.longestOffered else {
            return [AnySequence<EntryName>]().lazy.joined()
        }
        let inOthers = targets.map { EntryName(target: $0, type: type) }
        let near = spellings + inOthers + inOthers.flatMap(\.spellings)
        guard withSlips else { return [AnySequence(near)].lazy.joined() }
        let slips = edits(of: type).lazy.map { EntryName(target: target, type: $0) }
        let targetSlips = edits(of: target).lazy.map { EntryName(target: $0, type: type) }
        return [AnySequence(near), AnySequence(slips), AnySequence(targetSlips)].lazy.joined()
    }

    /// The largest length of a name for which suggestions are searched, in bytes: a longer one is not meant
    /// as the name of a module.
    private static let longestOffered = 64

    /// The name with another case, and with or without the word `Module`.
    var spellings: [EntryName] {
        let suffix = "Module"
        var types = [type, capitalized(type)]
        if type.lowercased().hasSuffix("module"), type.count > suffix.count {
            types.append(capitalized(String(type.dropLast(suffix.count))) + suffix)
            types.append(capitalized(String(type.dropLast(suffix.count))))
        } else {
            types.append(capitalized(type) + suffix)
        }
        let targets = [target, capitalized(target), target + "s", capitalized(target) + "s"]
        return targets.flatMap { target in
            types.map { EntryName(target: target, type: $0) }
        }
    }
}

/// Returns whether a text is a Swift identifier, as far as a mangled name spells it out.
private func isIdentifier(_ text: some StringProtocol) -> Bool {
    guard let first = text.utf8.first, !isDigit(first) else { return false }
    return text.utf8.allSatisfy { byte in
        isDigit(byte) || byte == UInt8(ascii: "_") || isLetter(byte)
    }
}

private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")) ~= byte }

private func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")) ~= byte | 0x20
}

private func capitalized(_ name: String) -> String {
    name.prefix(1).uppercased() + name.dropFirst()
}

/// Returns every name that differs by one typing error: a letter too many, too few, another, or two swapped.
private func edits(of name: String) -> [String] {
    let letters = Array(name.utf8)
    let alphabet = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_".utf8)
    var all: [String] = []
    func add(_ bytes: [UInt8]) { all.append(String(decoding: bytes, as: UTF8.self)) }
    for index in letters.indices {
        add(Array(letters[..<index] + letters[(index + 1)...]))
        if index + 1 < letters.count {
            var swapped = letters
            swapped.swapAt(index, index + 1)
            add(swapped)
        }
    }
    for letter in alphabet {
        for index in 0...letters.count {
            add(letters[..<index] + [letter] + letters[index...])
            if index < letters.count {
                var other = letters
                other[index] = letter
                add(other)
            }
        }
    }
    return all
}
