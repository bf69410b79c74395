public import ModuleHostCore

/// A module of a ``TestHost``, with its id and its settings.
///
/// ```swift
/// TestHost.run(modules: [
///     TestModule(Feed.self, id: "com.mm.feed", config: #"{"server": "https://example.com"}"#),
///     "Modules.JournalModule",
/// ]) { host in … }
/// ```
public struct TestModule: Sendable, ExpressibleByStringLiteral {
    /// The members of its object in the slatefile that name what implements it.
    private let implementation: String
    /// The id.
    public let id: String
    private let config: String
    private let isMain: Bool
    private let more: String

    /// Creates a module of a class of this process.
    ///
    /// - Parameters:
    ///   - type: The class. It may be nested, private or local.
    ///   - id: The id; nil for `test.` and the name of the class without `Module`.
    ///   - config: The settings, as JSON.
    ///   - more: Further members of the module's object in the slatefile, as JSON, such as
    ///     `"required": true, "deadline": "1s"`.
    public init(
        _ type: any (Module & SendableMetatype).Type, id: String? = nil, config: String = "{}",
        more: String = ""
    ) {
        implementation = "\"entry\": \(quotedJSON(EntryUse.entry(of: type)))"
        self.id = id ?? Self.id(ofEntry: "\(type)")
        self.config = config
        isMain = type is any RootProvider.Type
        self.more = more
    }

    /// Creates a module of the entry of a slatefile.
    ///
    /// - Parameters:
    ///   - entry: A top-level class with its target, such as `Modules.JournalModule`.
    ///   - id: The id; nil for `test.` and the name of the class without `Module`.
    ///   - config: The settings, as JSON.
    ///   - more: Further members of the module's object in the slatefile, as JSON.
    public init(
        entry: String, id: String? = nil, config: String = "{}", more: String = ""
    ) {
        implementation = "\"entry\": \(quotedJSON(entry))"
        self.id = id ?? Self.id(ofEntry: entry)
        self.config = config
        isMain = EntryUse.providesRoot(entry)
        self.more = more
    }

    /// Creates a module that is a program, which runs in a process of its own.
    ///
    /// - Parameters:
    ///   - command: The program and its arguments.
    ///   - id: The id.
    ///   - config: The settings, as JSON.
    ///   - more: Further members of the module's object in the slatefile, as JSON.
    public init(command: [String], id: String, config: String = "{}", more: String = "") {
        let words = command.map(quotedJSON).joined(separator: ", ")
        implementation = "\"command\": [\(words)]"
        self.id = id
        self.config = config
        isMain = false
        self.more = more
    }

    /// Creates a module of an entry such as `Modules.JournalModule`, without settings.
    public init(stringLiteral entry: String) { self.init(entry: entry) }

    /// Returns the slatefile of modules.
    static func slatefile(of modules: [TestModule], schemes: [String]) -> String {
        var modules = modules
        let main = modules.firstIndex(where: \.isMain) ?? 0
        if !modules.contains(where: \.isMain) {
            modules.insert(TestModule(RootlessMain.self, id: "test.main"), at: 0)
        }
        let objects = modules.enumerated().map { index, module in
            let more = module.more.isEmpty ? "" : ", " + module.more
            return """
                { "id": \(quotedJSON(module.id)), \(module.implementation), \
                "main": \(index == main), "config": \(module.config)\(more) }
                """
        }
        let names = schemes.map(quotedJSON).joined(separator: ", ")
        return """
            {
              "slate": 1,
              "app": "test",
              "schemes": [\(names)],
              "modules": [
                \(objects.joined(separator: ",\n    "))
              ]
            }
            """
    }

    /// Returns `test.feed-reader` for `FeedReaderModule`, also with its target before it.
    private static func id(ofEntry entry: String) -> String {
        var name = entry.split(separator: ".").last.map(String.init) ?? ""
        if name.hasSuffix("Module"), name.utf8.count > 6 { name.removeLast(6) }
        var id = ""
        var isAfterSmall = false
        for letter in name where letter.isASCII && (letter.isLetter || letter.isNumber) {
            if letter.isUppercase, isAfterSmall { id += "-" }
            id += letter.lowercased()
            isAfterSmall = !letter.isUppercase
        }
        return "test." + (id.isEmpty ? "module" : id)
    }
}

/// The main module of a host whose test gives none.
final class RootlessMain: RootProvider {
    init(context: ModuleContext) {}

    var root: String? { nil }
}
