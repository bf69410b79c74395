import AppService

/// The parts of a new module that a command line names: its routes, start-up tasks and events.
struct ModuleParts {
    var routes: [RoutePart] = []
    var tasks: [NamePart] = []
    var events: [EventPart] = []

    /// A name in two forms: as it is written, and as the end of a Swift name.
    struct NamePart: Hashable {
        let text: String
        /// `Load` for `load`, `LoadFeed` for `load-feed`.
        let suffix: String

        init?(_ text: some StringProtocol) {
            let words = text.split { !$0.isASCII || !($0.isLetter || $0.isNumber) }
            guard let first = words.first?.first, first.isLetter else { return nil }
            self.text = String(text)
            suffix = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        }
    }

    /// Reads the values of `--route`, `--task` and `--on`, each a list with commas.
    ///
    /// - Throws: ``NewModuleError``, for the first error.
    init(routes: String?, tasks: String?, events: String?) throws(NewModuleError) {
        for text in Self.list(routes) {
            let route = try RoutePart(text)
            guard !self.routes.contains(where: { $0.name.suffix == route.name.suffix }) else {
                throw .invalidPart("--route", "two routes are called '\(route.name.text)'")
            }
            self.routes.append(route)
        }
        for text in Self.list(tasks) {
            guard let task = NamePart(text), !text.contains("/") else {
                throw .invalidPart(
                    "--task",
                    "'\(text)' is not the name of a task: it begins with a letter, and has no slash"
                )
            }
            guard !self.tasks.contains(where: { $0.suffix == task.suffix }) else {
                throw .invalidPart("--task", "two tasks are called '\(text)'")
            }
            self.tasks.append(task)
        }
        for text in Self.list(events) {
            guard let kind = EventKind(rawValue: text) else {
                let names = EventKind.allCases.map(\.rawValue)
                let near = nearestName(to: text, in: names).map { "did you mean '\($0)'?" }
                throw .invalidPart(
                    "--on",
                    "there is no event '\(text)'; \(near ?? "there are \(names.joined(separator: ", "))")"
                )
            }
            if !self.events.contains(where: { $0.kind == kind }) {
                self.events.append(EventPart(kind))
            }
        }
        // A registration is of no use without what it is for, and its protocol requires both.
        if self.events.contains(where: { $0.responder == "RemoteNotificationResponder" }),
            !self.events.contains(where: { $0.kind == .push })
        {
            self.events.append(EventPart(.push))
        }
    }

    private static func list(_ text: String?) -> [String] {
        (text ?? "").split(separator: ",").map { word in
            String(word.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
    }
}

/// A route of a new module: `count?step:Int`, `user/:name/posts?page:Int?`.
struct RoutePart {
    let pattern: String
    /// The action, and the end of the names of its handler and its request.
    let name: ModuleParts.NamePart
    let parameters: [Parameter]

    struct Parameter {
        let name: String
        let type: String
        let isOptional: Bool

        /// The name as Swift code, in which a keyword stands between backticks.
        var identifier: String { Self.keywords.contains(name) ? "`\(name)`" : name }

        /// A value as Swift code.
        var example: String {
            switch type {
            case "Int": "1"
            case "Double": "1.5"
            case "Bool": "true"
            default: "\"text\""
            }
        }

        static let types = ["Int", "Double", "Bool", "String"]

        private static let keywords: Set<String> = [
            "as", "associatedtype", "break", "case", "catch", "class", "continue", "default",
            "defer", "deinit", "do", "else", "enum", "extension", "fallthrough", "false",
            "fileprivate", "for", "func", "guard", "if", "import", "in", "init", "inout",
            "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol",
            "public", "repeat", "rethrows", "return", "self", "static", "struct", "subscript",
            "super", "switch", "throw", "throws", "true", "try", "typealias", "var", "where",
            "while",
        ]
    }

    /// - Throws: ``NewModuleError`` with the error in the route.
    init(_ text: String) throws(NewModuleError) {
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        pattern = String(parts[0])
        let parsed: RoutePattern
        do throws(RoutePatternError) {
            parsed = try RoutePattern(pattern)
        } catch {
            throw .invalidPart("--route", "\(error)")
        }
        let words = pattern.split(separator: "/").filter { $0.allSatisfy(Self.isPlain) }
        guard let name = ModuleParts.NamePart(words.joined(separator: "-")) else {
            throw .invalidPart(
                "--route", "'\(pattern)' has no word after which its handler can be called")
        }
        self.name = name
        var parameters = try (parts.count > 1 ? parts[1] : "").split(separator: "&").map {
            word throws(NewModuleError) in try Self.parameter(String(word))
        }
        for name in parsed.names.reversed()
        where Self.isIdentifier(name) && !parameters.contains(where: { $0.name == name }) {
            parameters.insert(Parameter(name: name, type: "String", isOptional: false), at: 0)
        }
        self.parameters = parameters
    }

    /// Reads `step:Int` or `page:Int?`.
    private static func parameter(_ text: String) throws(NewModuleError) -> Parameter {
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        guard let name = parts.first, isIdentifier(name) else {
            throw .invalidPart(
                "--route", "'\(text)' is not a parameter: write name:Type, such as step:Int")
        }
        let written = parts.count > 1 ? parts[1] : "String"
        let isOptional = written.hasSuffix("?")
        let type = isOptional ? String(written.dropLast()) : written
        guard Parameter.types.contains(type) else {
            throw .invalidPart(
                "--route",
                "'\(type)' is not a type of '\(name)': it is \(Parameter.types.alternatives), with a "
                    + "question mark where it may be missing")
        }
        return Parameter(name: name, type: type, isOptional: isOptional)
    }

    private static func isPlain(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || character == "-")
    }

    private static func isIdentifier(_ text: String) -> Bool {
        text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
            && text.first.map { $0.isLetter || $0 == "_" } == true && text != "_"
    }
}
