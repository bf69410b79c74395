extension Command {
    static let new = Command(
        name: "new", summary: "create an app or a module with tests",
        discussion: """
            new app NAME creates ./NAME: a package that is a host of its own, whose program NAME has every
            command of this one, with a module com.example.NAME, tests, a slatefile and a README. Its
            manifest names the package ModuleHost by the repository and the version that this program was
            built of. Where git does not know these, it is a link that git ignores: see the README.

            new module ID creates a module, such as com.example.weather-report. The last part of its id
            names the rest:

              swift   class WeatherReportModule and its tests, in a target of the package
                      beside the slatefile; where there is no package, in a new one that
                      is a host
              python  weather-report/weather_report_module.py and its tests, with
                      modulehost.py, which is all that a module in Python needs

            The module is an example with settings, an event, messages and a route. In Swift it has
            nothing of these with --minimal, and with --route, --task and --on what these name.

            Where there is no slatefile, one that runs the module is created. No existing file is
            overwritten: either all files are created, or none.
            """,
        operands: [
            Operand(
                placeholder: "KIND", isRequired: true, choices: ["app", "module"], help: "to create"
            ),
            Operand(
                placeholder: "NAME", isRequired: true,
                help: "the id of the module, or the name of the app"),
        ],
        options: [
            Option(
                name: "language", placeholder: "LANGUAGE",
                choices: ModuleLayout.Language.allCases.map(\.rawValue),
                help: "(must be given for a module)"),
            Option(name: "minimal", help: "for swift: an empty class"),
            Option(
                name: "route", placeholder: "ROUTES",
                help: "for swift: routes, such as 'count?step:Int,user/:name?page:Int?'"),
            Option(
                name: "task", placeholder: "TASKS", help: "for swift: start-up tasks, such as load"),
            Option(
                name: "on", placeholder: "EVENTS",
                help: "for swift: events, such as background,push"),
            Option(
                name: "slatefile", placeholder: "FILE",
                help:
                    "the slatefile of the app; the module goes beside it (default: slatefile.json)"),
            Option(name: "add", help: "add it to the existing slatefile, and change nothing else"),
            Option(
                name: "target", placeholder: "TARGET",
                help:
                    "for swift: the target that gets it (default: that of the only host, or App)"
            ),
            Option(
                name: "package", placeholder: "SOURCE",
                help:
                    "the package ModuleHost, for a new package: a folder or a URL (default: that of this program)"
            ),
            .json,
        ],
        exitCodes: [.success, .noInput, .unavailable, .cannotCreate, .invalidSlatefile],
        exitMeanings: [
            .noInput: "the slatefile, or the package ModuleHost, cannot be read",
            .unavailable: "the repository of the package ModuleHost cannot be read",
            .cannotCreate: "a file exists already, or cannot be created",
        ],
        examples: [
            Example(line: "new app shop", explanation: "create ./shop, a host of its own"),
            Example(
                line: "new module com.example.weather --language python",
                explanation: "create ./weather"),
            Example(
                line: "new module com.mm.news --language swift --add --on push",
                explanation: "create it in the package of the app"),
        ],
        usageError: newUsageError,
        run: { arguments in
            do throws(NewModuleError) {
                let module = try isApp(arguments) ? newApp(arguments) : newModule(arguments)
                try module.make()
                return arguments.has("json")
                    ? Console.write(json: module.json)
                    : Console.write(module.report(for: arguments.program.command))
            } catch {
                Console.printError("\(arguments.title): \(error.text)")
                return error.exitCode
            }
        })

    private static func isApp(_ arguments: Arguments) -> Bool { arguments.operands[0] == "app" }

    @Sendable private static func newUsageError(_ arguments: Arguments) -> String? {
        if isApp(arguments) {
            let foreign = ["language", "slatefile", "add", "target"].first { arguments.has($0) }
            if let foreign { return "'--\(foreign)' is for a module" }
        } else {
            guard let language = arguments["language"] else {
                let all = ModuleLayout.Language.allCases.map(\.rawValue).alternatives
                return "'--language LANGUAGE' is missing, which is \(all)"
            }
            let isSwift = language == ModuleLayout.Language.swift.rawValue
            let foreign = ["target", "package", "minimal", "route", "task", "on"].first {
                arguments.has($0) && !isSwift
            }
            if let foreign { return "'--\(foreign)' is for swift" }
        }
        let part = ["route", "task", "on"].first { arguments.has($0) }
        if let part, arguments.has("minimal") {
            return "'--minimal' and '--\(part)' exclude each other"
        }
        if let target = arguments["target"], !isIdentifier(target) {
            return "'\(excerpt(target, limit: 100))' is not the name of a target: "
                + "letters, digits and _ are allowed, and a letter comes first"
        }
        return nil
    }

    /// Reads the parts of the module; nil for the example.
    private static func parts(_ arguments: Arguments) throws(NewModuleError) -> ModuleParts? {
        guard ["minimal", "route", "task", "on"].contains(where: { arguments.has($0) }) else {
            return nil
        }
        return try ModuleParts(
            routes: arguments["route"], tasks: arguments["task"], events: arguments["on"])
    }

    private static func newModule(_ arguments: Arguments) throws(NewModuleError) -> NewModule {
        let app = AppFolder(slatefile: arguments["slatefile"] ?? defaultSlatefile)
        let program = arguments.program.name
        let names: ModuleNames
        do throws(ModuleNames.NameError) {
            names = try ModuleNames(arguments.operands[1])
        } catch {
            throw .invalidName(error)
        }
        let layout =
            switch ModuleLayout.Language(rawValue: arguments["language"] ?? "") {
            case .python: ModuleLayout.python(names, in: app, program: arguments.program.command)
            case .swift, nil:
                try ModuleLayout.swift(
                    names, in: app, parts(arguments), target: arguments["target"],
                    package: arguments["package"])
            }
        return try NewModule(
            names, in: app, layout, isToBeAdded: arguments.has("add"), program: program)
    }

    private static func newApp(_ arguments: Arguments) throws(NewModuleError) -> NewModule {
        let name = arguments.operands[1]
        guard !name.contains("."), let names = try? ModuleNames("com.example.\(name)") else {
            throw .invalidApp(name, target: nil)
        }
        let target = String(names.type.dropLast("Module".count))
        for target in [target, target + ModuleLayout.hostEnding]
        where reservedTargets.contains(target.lowercased()) {
            throw .invalidApp(name, target: target)
        }
        let app = AppFolder(slatefile: "\(name)/\(defaultSlatefile)")
        let layout = try ModuleLayout.swift(
            names, in: app, parts(arguments), target: target, newProgram: name,
            package: arguments["package"])
        return try NewModule(
            names, in: app, layout, isToBeAdded: false, program: arguments.program.name)
    }

    /// The modules and products that a new app uses, in lower case.
    private static let reservedTargets: Set<String> = [
        "appservice", "dispatch", "foundation", "glibc", "hostd", "modulehost",
        "modulehostcore", "modulehosttesting", "modules", "swift", "testhost", "testing", "xctest",
    ]

    private static func isIdentifier(_ text: String) -> Bool {
        text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
            && text.first?.isNumber == false
    }
}
