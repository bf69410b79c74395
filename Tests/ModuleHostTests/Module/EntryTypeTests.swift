import Testing

@testable import ModuleHostCore

/// A class that is no module.
final class PlainClass {}

/// A struct, which no module can be.
struct PlainStruct {}

/// An enum, which no module can be.
enum PlainEnum {
    /// A module that is not at the top level.
    final class NestedModule: Module {
        init(context: ModuleContext) {}
    }
}

@Suite("EntryType")
struct EntryTypeTests {
    private func error(_ entry: String, targets: [String] = []) throws -> String {
        let error = #expect(throws: EntryError.self) {
            try EntryType(entry, targets: targets)
        }
        return "\(try #require(error))"
    }

    @Test("a module's class is found by its name, in this very binary")
    func found() throws {
        #expect(try EntryType("ModuleHostTests.ProbeModule").type == ProbeModule.self)
    }

    @Test(
        "a name that no class has, near one that a class has",
        arguments: [
            "ModuleHostTests.ProbeModul", "ModuleHostTests.ProbbeModule",
            "ModuleHostTests.PorbeModule", "ModuleHostTests.ProbeMobule",
            "ModuleHostTests.probeModule", "ModuleHostTests.probe",
            "moduleHostTests.ProbeModule", "ModuleHostTest.ProbeModule",
            "ModuleHostTets.ProbeModule",
        ])
    func misspelt(entry: String) throws {
        #expect(
            try error(entry)
                == "no class '\(entry)' in this binary; did you mean 'ModuleHostTests.ProbeModule'?"
        )
    }

    @Test("the target was left out, or is another that the slatefile names")
    func targets() throws {
        let targets = ["Modules", "ModuleHostTests"]
        #expect(
            try error("ProbeModule", targets: targets)
                == "'ProbeModule' is not an entry; did you mean 'ModuleHostTests.ProbeModule'?")
        #expect(
            try error("Modules.ProbeModule", targets: targets)
                == "no class 'Modules.ProbeModule' in this binary; did you mean "
                + "'ModuleHostTests.ProbeModule'?")
        #expect(
            try error("ProbeModule")
                == #"'ProbeModule' is not an entry; one is "Target.Type", a top-level class and its target"#
        )
    }

    @Test("nothing near: misspelt, or the target is not linked")
    func notLinked() throws {
        #expect(
            try error("Weather.ForecastModule", targets: ["ModuleHostTests"])
                == "no class 'Weather.ForecastModule' in this binary: it is misspelt, or target "
                + "'Weather' is not linked into it (add it to the dependencies of the executable)")
    }

    @Test("what is offered is a module")
    func offersModulesOnly() throws {
        #expect(
            try error("ModuleHostTests.PlainClas")
                == "no class 'ModuleHostTests.PlainClas' in this binary: it is misspelt, or target "
                + "'ModuleHostTests' is not linked into it (add it to the dependencies of the "
                + "executable)")
    }

    @Test(
        "a type that is no module",
        arguments: [
            (
                "ModuleHostTests.PlainClass",
                "class 'ModuleHostTests.PlainClass' is not a module: make it conform to 'Module'"
            ),
            (
                "ModuleHostTests.PlainStruct",
                "'ModuleHostTests.PlainStruct' is a struct: a module is a class that conforms to "
                    + "'Module'"
            ),
            (
                "ModuleHostTests.PlainEnum",
                "'ModuleHostTests.PlainEnum' is an enum: a module is a class that conforms to "
                    + "'Module'"
            ),
        ])
    func noModule(entry: String, message: String) throws {
        #expect(try error(entry) == message)
    }

    @Test(
        "names that are none",
        arguments: [
            "", ".", "Modules.", ".Probe", "Nothing..Push", "A.B.C", "ModuleHostTests.1Probe",
            "ModuleHostTests.Probe Module", "Nöthing.Push", "Modules.Push\u{0}Module",
            "Modules.PushModule<Int>", "🙂.🙂", "7Modules10PushModuleC", "$s.C",
            "Modules/PushModule", "Modules.PushModule\n",
        ])
    func malformed(entry: String) throws {
        #expect(
            try error(entry)
                == "\(quoted(entry)) is not an entry; one is \"Target.Type\", a top-level class and its target"
        )
    }

    @Test(
        "where many entries are wrong, the first few get the costly search; the others what is cheap"
    )
    func many() {
        let check = EntryUse.checkAgainstBinary()
        func message(_ entry: String) -> String {
            check(EntryUse(entry: entry, isMain: false, config: nil, appConfig: nil)).map {
                if case .entry(let text) = $0 { text } else { "" }
            }.joined()
        }
        let offer = "; did you mean 'ModuleHostTests.ProbeModule'?"
        for number in 0..<7 { #expect(!message("Weather.Forecast\(number)").isEmpty) }
        #expect(message("ModuleHostTests.ProbeModul").hasSuffix(offer))
        #expect(!message("ModuleHostTests.ProbeModul").hasSuffix(offer))
        #expect(message("ModuleHostTests.probeModule").hasSuffix(offer))
        #expect(!message("Other.ProbeModule").hasSuffix(offer))
        #expect(message("ModuleHostTests.ProbeModule").isEmpty)
        #expect(message("Other.ProbeModule").hasSuffix(offer))
    }

    @Test("a class inside of another type is no entry")
    func nested() throws {
        #expect(try error("ModuleHostTests.PlainEnum.NestedModule").contains("is not an entry"))
        #expect(try error("ModuleHostTests.NestedModule").hasPrefix("no class "))
    }

    @Test("a name of any length is looked up without a trap, and soon")
    func long() throws {
        let name = String(repeating: "a", count: 100_000)
        #expect(try error("\(name).\(name)").hasPrefix("no class 'aaa"))
    }

    @Test(
        "protocols and what the language brings along are no modules",
        arguments: ["Swift.Int", "Swift.String", "ModuleHostCore.Module"])
    func others(entry: String) throws {
        #expect(try !error(entry).isEmpty)
    }
}
