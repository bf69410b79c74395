import TestSupport
import Testing

@testable import ModuleHost

/// The usage, behind an error of it: other errors are about values, which it does not show.
private let usageLines = """

    usage: hostd new [--language LANGUAGE] [--minimal] [--route ROUTES]
           [--task TASKS] [--on EVENTS] [--slatefile FILE] [--add] [--target TARGET]
           [--package SOURCE] [--json] KIND NAME
    """

/// What `hostd new` is asked for.
@Suite("hostd new: usage", .timeLimit(.minutes(10)))
struct NewCommandUsageTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(
        "what makes no sense, and what would",
        arguments: [
            (
                ["module", "com.a.b", "--language", "pyton"],
                "'pyton' is not a value of '--language', which takes swift or python; did you mean 'python'?"
            ),
            (["module", "com.a.b"], "'--language LANGUAGE' is missing, which is swift or python"),
            ([], "KIND is missing: app or module" + usageLines),
            (
                ["module", "--language", "swift"],
                "NAME is missing: the id of the module, or the name of the app" + usageLines
            ),
            (
                ["modul", "com.a.b", "--language", "swift"],
                "'modul' is not a valid KIND: it is app or module; did you mean 'module'?"
            ),
            (
                ["module", "com.a.b", "--language", "python", "--target", "x"],
                "'--target' is for swift"
            ),
            (
                ["module", "com.a.b", "--language", "python", "--package", "x"],
                "'--package' is for swift"
            ),
            (
                ["module", "com.a.b", "--language", "python", "--task", "x"],
                "'--task' is for swift"
            ),
            (
                ["module", "com.a.b", "--language", "swift", "--minimal", "--on", "push"],
                "'--minimal' and '--on' exclude each other"
            ),
            (["app", "shop", "--language", "swift"], "'--language' is for a module"),
            (["app", "shop", "--add"], "'--add' is for a module"),
            (
                ["module", "com.a.b", "--language", "swift", "--target", "a-b"],
                "'a-b' is not the name of a target: letters, digits and _ are allowed, and a letter comes "
                    + "first"
            ),
        ])
    func usage(arguments: [String], message: String) throws {
        let outcome = try HostProcess.run(["new"] + arguments, in: folder.path)
        #expect(outcome.exit == .code(64))
        #expect(
            outcome.error == """
                hostd new: \(message)
                see 'hostd new --help'

                """)
        #expect(folder.names.isEmpty)
    }

    @Test(
        "an id that is none, and one that would be",
        arguments: [
            ("weather", "'weather' is not a reverse-domain name; write \"com.mm.weather\"?"),
            (
                "com.example.weather_report",
                "module id 'com.example.weather_report' has '_' in it; letters, digits, hyphens and dots "
                    + "are allowed; write 'com.example.weather-report'?"
            ),
            (
                "my weather",
                "module id 'my weather' has a space in it; letters, digits, hyphens and dots are allowed; "
                    + "write 'com.example.my-weather'?"
            ),
            (
                "com..weather",
                "module id 'com..weather' has nothing before, after or between its dots; write "
                    + "'com.weather'?"
            ),
            (
                "com.example.3d",
                "'3d', of which a class is to be named, must begin with a letter; write "
                    + "'com.example.module-3d'?"
            ),
            (
                "com.example.routed",
                "the class would be called RoutedModule, as a protocol of ModuleHost is; give the module "
                    + "another id"
            ),
        ])
    func id(text: String, message: String) throws {
        let outcome = try HostProcess.run(
            ["new", "module", text, "--language", "swift"], in: folder.path)
        #expect(outcome.error == "hostd new: \(message)\n")
        #expect(outcome.exit == .code(64))
        #expect(folder.names.isEmpty)
    }

    @Test(
        "a name of an app that is none, and parts of a module that are none",
        arguments: [
            (
                ["app", "my.shop"],
                "'my.shop' is not the name of an app: letters, digits and hyphens are allowed, and a letter "
                    + "comes first"
            ),
            (
                ["app", "../shop"],
                "'../shop' is not the name of an app: letters, digits and hyphens are allowed, and a letter "
                    + "comes first"
            ),
            (
                ["app", "modules"],
                "an app cannot be called 'modules': its target would be 'Modules', as a target that it uses; give "
                    + "it another name"
            ),
            (
                ["app", "test"],
                "an app cannot be called 'test': its target would be 'TestHost', as a target that it uses; "
                    + "give it another name"
            ),
            (
                ["app", "shop", "--on", "backgroun"],
                "--on: there is no event 'backgroun'; did you mean 'background'?"
            ),
            (
                ["app", "shop", "--task", "1"],
                "--task: '1' is not the name of a task: it begins with a letter, and has no slash"
            ),
            (["app", "shop", "--task", "load,load"], "--task: two tasks are called 'load'"),
            (
                ["app", "shop", "--route", "count?step:Itn"],
                "--route: 'Itn' is not a type of 'step': it is Int, Double, Bool or String, with a question "
                    + "mark where it may be missing"
            ),
            (
                ["app", "shop", "--route", "count?1:Int"],
                "--route: '1:Int' is not a parameter: write name:Type, such as step:Int"
            ),
            (
                ["app", "shop", "--route", ":name"],
                "--route: ':name' has no word after which its handler can be called"
            ),
            (
                ["app", "shop", "--route", "count,count?step"],
                "--route: two routes are called 'count'"
            ),
        ])
    func parts(arguments: [String], message: String) throws {
        let outcome = try HostProcess.run(["new"] + arguments, in: folder.path)
        #expect(outcome.error == "hostd new: \(message)\n")
        #expect(outcome.exit == .code(64))
        #expect(folder.names.isEmpty)
    }

    @Test("a malformed pattern is refused, in the words of the router")
    func malformedRoute() throws {
        let outcome = try HostProcess.run(
            ["new", "app", "shop", "--route", "user/:"], in: folder.path)
        #expect(outcome.error.hasPrefix("hostd new: --route: "))
        #expect(outcome.exit == .code(64))
        #expect(folder.names.isEmpty)
    }

    @Test(
        "the names that follow from an id",
        arguments: [
            ("com.example.weather", "WeatherModule", "weather_module", "com.example.main"),
            ("a.news-letter-2", "NewsLetter2Module", "news_letter_2_module", "a.main"),
            ("com.mm.userInfo", "UserInfoModule", "userinfo_module", "com.mm.main"),
            // What would stand before the standard library, and what is a keyword.
            ("com.mm.json", "JsonModule", "json_module", "com.mm.main"),
            ("com.mm.class", "ClassModule", "class_module", "com.mm.main"),
            ("com.mm.Main", "MainModule", "main_module", "com.mm.root"),
        ])
    func names(id: String, type: String, file: String, main: String) throws {
        let names = try ModuleNames(id)
        #expect([names.type, names.file, names.main] == [type, file, main])
    }
}
