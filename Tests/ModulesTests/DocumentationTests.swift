import ModuleHostCore
import TestSupport
import Testing

/// What the texts for users say is so: their code compiles, runs, and nothing is left out.
@Suite("Documentation", .timeLimit(.minutes(10)))
struct DocumentationTests {
    /// A block of code in a text.
    private struct Block {
        /// The line before it.
        let before: String
        let language: String
        var code = ""
    }

    private static func blocks(of text: String) -> [Block] {
        var blocks: [Block] = []
        var before = ""
        var isInside = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                if !isInside {
                    blocks.append(Block(before: before, language: String(line.dropFirst(3))))
                }
                isInside.toggle()
            } else if isInside {
                blocks[blocks.count - 1].code += line + "\n"
            }
            before = String(line)
        }
        return blocks
    }

    /// The code of all blocks of a language in a text.
    static func blocks(in path: String, language: String) throws -> [String] {
        blocks(of: try Repository.text(of: path)).filter { $0.language == language }.map(\.code)
    }

    /// The lines without what they are indented by.
    private static func flush(_ code: String) -> String {
        code.split(separator: "\n").map { $0.drop { $0 == " " } }.joined(separator: "\n")
    }

    // MARK: Code

    @Test(
        "Swift code stands word for word in a file that is compiled with the tests",
        arguments: [
            "README.md", "docs/modules.md", "docs/routing.md", "docs/slatefile.md",
            "docs/control.md", "docs/testing-modules.md", "docs/embedding.md", "CONTRIBUTING.md",
            "Integrations/service-lifecycle/README.md", "Integrations/log/README.md",
            "Integrations/metrics/README.md", "Integrations/tracing/README.md",
        ])
    func compiled(path: String) throws {
        for block in Self.blocks(of: try Repository.text(of: path)) where block.language == "swift"
        {
            let words = block.before.split(separator: " ")
            let file = try #require(
                words.first { $0.hasPrefix("compiled=") }?.dropFirst("compiled=".count),
                "\(path): the block after '\(block.before)' does not say where it is compiled")
            #expect(
                Self.flush(try Repository.text(of: String(file))).contains(Self.flush(block.code)),
                "\(path): this is not in \(file):\n\(block.code)")
        }
    }

    /// The first block of JSON in a text that holds `text`.
    private static func json(in path: String, with text: String) throws -> [UInt8] {
        let blocks = Self.blocks(of: try Repository.text(of: path))
        let block = try #require(
            blocks.first { $0.language == "json" && $0.code.contains(text) },
            "\(path) shows no \(text)")
        return Array(block.code.utf8)
    }

    @Test("the file of tokens in docs/routing.md is one")
    func tokens() throws {
        let file = try Self.json(in: "docs/routing.md", with: "\"token\"")
        let tokens = try TokenStore.read(file, path: "tokens.json", schemes: ["slate"])
        #expect(tokens.names == ["ci"])
    }

    @Test("the smallest slatefile of docs/slatefile.md is one")
    func smallestSlatefile() throws {
        let file = try Self.json(in: "docs/slatefile.md", with: "\"slate\"")
        #expect(ModulesTests.diagnostics(of: String(decoding: file, as: UTF8.self)) == [])
    }

    /// The slatefile of the repository, with the README's entry added as the README says.
    private func readmeSlatefile() throws -> String {
        let entry = try #require(
            Self.blocks(of: try Repository.text(of: "README.md")).first {
                $0.before.contains("block=entry")
            })
        let slatefile = try Repository.slatefile()
        let browser = try #require(slatefile.firstRange(of: "    { \"id\": \"com.mm.browser\""))
        return slatefile[..<browser.lowerBound] + entry.code + "\n"
            + slatefile[browser.lowerBound...]
    }

    @Test("the README's module does what the README says")
    func module() async throws {
        let slatefile = try readmeSlatefile()
            .replacing("Modules.GreeterModule", with: "ModulesTests.GreeterModule")
        let signIn = #"{ "topic": "user.signed-in", "payload": { "name": "mia" } }"#
        let end = try await TestHost.run(slatefile: slatefile) { app in
            try await app.deliver(.message, signIn)
            try await app.deliver(.message, signIn)
            #expect(
                app.messages(of: "com.example.greeter").last
                    == "Welcome, number 2; we speak Swift, English")
        }
        #expect(end == .stopped)
    }

    @Test("the README's module has its settings checked")
    func settings() throws {
        let slatefile = try readmeSlatefile()
            .replacing("Modules.GreeterModule", with: "ModulesTests.GreeterModule")
            .replacing("\"greeting\"", with: "\"greting\"")
        #expect(
            ModulesTests.diagnostics(of: slatefile).map { $0.drop { $0 != " " } } == [
                " unknown key 'greting'; did you mean 'greeting'?"
            ])
    }

    @Test("modules that a reader adds to the slatefile do not reach the tests")
    func addedModules() throws {
        let shipped = try Repository.slatefile()
        let added = try readmeSlatefile().replacing(
            "    { \"id\": \"com.mm.browser\"",
            with: """
                    {
                      "id": "com.example.weather",
                      "command": ["python3", "weather/weather_module.py"]
                    },
                    { "id": "com.mm.browser"
                """)
        #expect(added.contains("com.example.greeter") && added.contains("com.example.weather"))
        #expect(try Repository.shipped(added) == shipped)
        // The one of the repository, if no reader has added any, is taken as it is.
        #expect(try Repository.shipped(shipped) == shipped)
    }

    // MARK: Nothing is left out

    /// The names of all properties of a JSON Schema.
    private static func properties(of schema: JSONValue) -> [String] {
        schema.members.flatMap { member in
            let own = member.key == "properties" ? member.value.members.map(\.key) : []
            return own + properties(of: member.value)
        }
    }

    @Test("docs/slatefile.md names every key")
    func keys() throws {
        let text = try Repository.text(of: "docs/slatefile.md")
        let schema = try JSONValue(parsing: Slatefile.jsonSchema)
        let keys = Self.properties(of: schema)
        #expect(keys.count > 30)
        for key in keys { #expect(text.contains("`\(key)`"), "'\(key)' is not there") }
    }
}
