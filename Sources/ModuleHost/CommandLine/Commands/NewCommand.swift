extension Command {
    static let new = Command(
        name: "new", summary: "create a module with tests",
        discussion: """
            ID is the module's id, such as com.example.weather-report. Its last part names the rest:

              swift   class WeatherReportModule and its tests, in a target of the package beside
                      the slatefile; where there is no package, in a new one that is a host
              python  weather-report/weather_report_module.py and its tests, with modulehost.py,
                      which is all that a module in Python needs

            Where there is no slatefile, one that runs the module is created. No existing file is
            overwritten: either all files are created, or none.
            """,
        operands: [
            Operand(
                placeholder: "KIND", isRequired: true, choices: ["module"], help: "(all there is)"),
            Operand(placeholder: "ID", isRequired: true, help: "the id of the module"),
        ],
        options: [
            Option(
                name: "language", placeholder: "LANGUAGE",
                choices: ModuleLayout.Language.allCases.map(\.rawValue), isRequired: true,
                help: "(must be given)"),
            Option(
                name: "slatefile", placeholder: "FILE",
                help:
                    "the slatefile of the app; the module goes beside it (default: slatefile.json)"),
            Option(
                name: "add",
                help:
                    "add it to the existing slatefile, and change nothing else"
            ),
            Option(
                name: "target", placeholder: "TARGET",
                help: "for swift: the target of the package that gets it (default: App)"),
            Option(
                name: "package", placeholder: "FOLDER",
                help: "the package ModuleHost, for a new package (default: the one of this program)"
            ),
            .json,
        ],
        exitCodes: [.success, .noInput, .cannotCreate, .invalidSlatefile],
        exitMeanings: [
            .noInput: "the slatefile, or the package ModuleHost, cannot be read",
            .cannotCreate: "a file exists already, or cannot be created",
        ],
        examples: [
            Example(
                line: "new module com.example.weather --language python",
                explanation: "make ./weather"),
            Example(
                line:
                    "new module com.mm.news --language swift --slatefile app/slatefile.json",
                explanation: "make ./app"),
        ],
        usageError: { arguments in
            let isSwift = arguments["language"] == ModuleLayout.Language.swift.rawValue
            let foreign = ["target", "package"].first { arguments.has($0) && !isSwift }
            if let foreign { return "'--\(foreign)' is for swift" }
            if let target = arguments["target"], !isIdentifier(target) {
                return "'\(excerpt(target, limit: 100))' is not the name of a target: "
                    + "letters, digits and _ are allowed, and a letter comes first"
            }
            return nil
        },
        run: { arguments in
            do throws(NewModuleError) {
                let module = try newModule(arguments)
                try module.make()
                return arguments.has("json")
                    ? Console.write(json: module.json)
                    : Console.write(module.report(for: arguments.program.name))
            } catch {
                Console.printError("\(arguments.title): \(error.text)")
                return error.exitCode
            }
        })

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
            case .python: ModuleLayout.python(names, in: app, program: program)
            case .swift, nil:
                try ModuleLayout.swift(
                    names, in: app, target: arguments["target"], package: arguments["package"])
            }
        return try NewModule(
            names, in: app, layout, isToBeAdded: arguments.has("add"), program: program)
    }

    private static func isIdentifier(_ text: String) -> Bool {
        text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
            && text.first?.isNumber == false
    }
}
