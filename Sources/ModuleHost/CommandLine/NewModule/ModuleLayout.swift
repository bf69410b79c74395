/// The files of a module in its language, and notes on them.
struct ModuleLayout {
    /// The files, by their names in the folder of the app.
    var files: [(name: String, text: String)]
    /// The member of the module's entry in the slatefile that states its implementation, as JSON.
    var implementation: (key: String, value: String)
    /// The members of the entry that declare what a program has, as JSON.
    var declared: [(key: String, value: String)] = []
    /// The command that runs the tests, in the folder of the app.
    var test: String
    /// The command that runs the app, in its folder.
    var run: String
    /// A comment about an app that exists already; empty for none.
    var orElse = ""
    /// The remaining manual steps, in lines; nil for none.
    var remark: TerminalText?
    /// The module's settings in the slatefile, as JSON; nil for none.
    var config: String? = #"{ "greeting": "Hello" }"#
    /// Commands by which the module is tried out, without the name of the program; nil for those of the
    /// example.
    var trials: [String]?
    /// The program whose commands reach the app; nil for the running one.
    var program: String?
    /// The value of `$schema` in a new slatefile; nil for none.
    var schema: String?
    /// Further files, which are left alone where they exist.
    var extras: [(name: String, text: String)] = []
    /// Links by their names, which are left alone where they exist.
    var links: [(name: String, target: String)] = []
}

extension ModuleLayout {
    /// The languages that have layouts.
    enum Language: String, CaseIterable {
        case swift
        case python
    }

    /// Returns the layout of a folder of the module's own, with the library that it needs.
    ///
    /// - Parameters:
    ///   - names: The names of the module.
    ///   - app: The folder of its app.
    ///   - program: The name of the program that runs the app.
    /// - Returns: The layout.
    static func python(
        _ names: ModuleNames, in app: AppFolder, program: String
    ) -> ModuleLayout {
        let words = ["__ID__": names.id.text, "__LABEL__": names.label, "__FILE__": names.file]
        let file = "\(names.label)/\(names.file).py"
        return ModuleLayout(
            files: [
                (file, filledTemplate(PackageResources.module_py, words)),
                (
                    "\(names.label)/test_\(names.file).py",
                    filledTemplate(PackageResources.test_module_py, words)
                ),
                (
                    "\(names.label)/modulehost.py",
                    filledTemplate(PackageResources.modulehost_py, [:])
                ),
            ],
            implementation: ("command", #"["python3", "\#(file)"]"#),
            declared: [
                ("provides", #"["greet/:name"]"#), ("topics", #"["\#(names.label).visited"]"#),
            ],
            test: "python3 -m unittest discover \(names.label)", run: "\(program) run\(app.option)",
            orElse: "  # where it runs already: \(program) reload\(app.option)",
            extras: [("\(names.label)/.gitignore", "__pycache__/\n")])
    }
}
