/// The source of a new module with given parts, and of its tests.
struct ModuleSource {
    let names: ModuleNames
    let target: String
    let parts: ModuleParts

    /// The topic of its messages.
    private var topic: String { "\(names.label).changed" }

    // MARK: The class

    /// The file of the class.
    var module: String {
        var blocks: [String] = []
        if parts.events.contains(where: { $0.kind == .message }) {
            blocks.append("    static var topics: [String] { [\"\(topic)\"] }")
        }
        blocks.append(
            (["    private let log: Log"] + parts.tasks.map(result(of:))).joined(separator: "\n"))
        blocks.append(initializer)
        if !parts.routes.isEmpty { blocks.append(routes) }
        blocks += parts.events.map(handler(of:))
        blocks += parts.routes.map(handler(of:))
        blocks += parts.tasks.map(work(of:))
        return """
            import ModuleHost

            /// The module `\(names.id)`.
            \(head)
            \(blocks.joined(separator: "\n\n"))
            }

            """
    }

    /// The declaration of the class, on several lines where one is too long.
    private var head: String {
        let name = "final class \(names.type):"
        let line = "\(name) \(protocols.joined(separator: ", "))"
        guard line.count > 98 else { return "\(line) {" }
        return "\(name)\n    \(protocols.joined(separator: ",\n    "))\n{"
    }

    private var protocols: [String] {
        var protocols = parts.routes.isEmpty ? [] : ["RoutedModule"]
        for event in parts.events where !protocols.contains(event.responder) {
            protocols.append(event.responder)
            if event.kind == .message { protocols.append("TopicListener") }
        }
        return protocols.isEmpty ? ["Module"] : protocols
    }

    private var initializer: String {
        let tasks = parts.tasks.map { task in
            """

                    // Off the lane, beside other work; the result comes back on the lane.
                    try context.startup("\(task.text)") {
                        try Self.run\(task.suffix)()
                    } then: { result in
                        self.resultOf\(task.suffix) = result
                    }
            """
        }
        return """
                init(context: ModuleContext)\(tasks.isEmpty ? "" : " throws") {
                    log = context.log\(tasks.joined())
                }
            """
    }

    private func result(of task: ModuleParts.NamePart) -> String {
        """
            /// The result of the start-up task `\(task.text)`; nil until it is there.
            private(set) var resultOf\(task.suffix): String?
        """
    }

    private func work(of task: ModuleParts.NamePart) -> String {
        """
            /// The work of the start-up task `\(task.text)`: it cannot use the module.
            private static func run\(task.suffix)() throws -> String { "\(task.text) is done" }
        """
    }

    private var routes: String {
        """
            // For every caller; without `access` only for the modules of this app.
            static var routes: [Route<\(names.type)>] {
                [
        \(parts.routes.map(declaration(of:)).joined(separator: ",\n"))
                ]
            }
        """
    }

    private func declaration(of route: RoutePart) -> String {
        let action = route.name.text == route.pattern ? "" : "action: \"\(route.name.text)\", "
        let head = """
                        Route("\(route.pattern)", \(action)access: .public) {
            """
        guard !route.parameters.isEmpty else {
            return head + """
                 (module, call) in
                                module.answer\(route.name.suffix)()
                            }
                """
        }
        return head + """

                            (module, request: \(route.name.suffix)Request, call) in
                            module.answer\(route.name.suffix)(request)
                        }
            """
    }

    private func handler(of route: RoutePart) -> String {
        let name = route.name.suffix
        guard !route.parameters.isEmpty else {
            return """
                    private func answer\(name)() -> String { "\(route.name.text)" }
                """
        }
        let members = route.parameters.map { parameter in
            "        var \(parameter.identifier): \(parameter.type)\(parameter.isOptional ? "?" : "")"
        }
        return """
                /// The parameters of the route `\(route.name.text)`, and its reply.
                struct \(name)Request: Codable, Hashable, Sendable {
            \(members.joined(separator: "\n"))
                }

                private func answer\(name)(_ request: \(name)Request) -> \(name)Request { request }
            """
    }

    private func handler(of event: EventPart) -> String {
        let result = event.result
        return """
                func \(event.signature) throws\(result.map { " -> \($0.type)" } ?? "") {
                    log.info("\(event.kind.rawValue)")\(result.map { "\n        return \($0.value)" } ?? "")
                }
            """
    }

    // MARK: The tests

    /// The file of the tests.
    var tests: String {
        var tests = [
            """
                @Test("runs in a host")
                func runs() async throws {
                    let host = try await makeHost()
                    #expect(try await host.state(of: id) == .running)
                    #expect(await host.stop() == .stopped)
                }
            """
        ]
        if !parts.events.isEmpty { tests.append(eventTest) }
        tests += parts.routes.map(test(of:)) + parts.tasks.map(test(of:))
        return """
            import ModuleHost
            import ModuleHostTesting
            import Testing

            @testable import \(target)

            @Suite("\(names.type)", .timeLimit(.minutes(10)))
            struct \(names.type)Tests {
                private let id = "\(names.id)"

                /// A host in which the module runs alone.
                private func makeHost() async throws -> TestHost {
                    try await TestHost(modules: [TestModule(\(names.type).self, id: id)])
                }

            \(tests.joined(separator: "\n\n"))
            }

            """
    }

    private var eventTest: String {
        let kinds = EventPart.order.filter { kind in parts.events.contains { $0.kind == kind } }
        var statements = kinds.compactMap { EventPart($0).delivery(topic: topic) }
        // An app returns only from the background.
        if kinds.contains(.foreground), !kinds.contains(.background),
            let last = statements.popLast()
        {
            statements += ["try await host.deliver(.background)", last]
        }
        // Only a reload delivers it.
        let expected = kinds.filter { $0 != .configurationChanged }
        return """
                @Test("receives its events")
                func events() async throws {
                    let host = try await makeHost()
            \(statements.map { "        \($0)\n" }.joined())\
                    #expect(await host.stop() == .stopped)
                    let received = Set(host.messages(of: id))
                    let expected = [
            \(expected.map { "            \"\($0.rawValue)\",\n" }.joined())        ]
                    #expect(received.isSuperset(of: expected))
                }
            """
    }

    private func test(of route: RoutePart) -> String {
        let name = route.name.suffix
        guard !route.parameters.isEmpty else {
            return """
                    @Test("answers \(route.name.text)")
                    func answers\(name)() async throws {
                        let host = try await makeHost()
                        #expect(try await host.call(id, "\(route.name.text)").text == #""\(route.name.text)""#)
                    }
                """
        }
        let values = route.parameters.map { "\($0.name): \($0.example)" }.joined(separator: ", ")
        return """
                @Test("answers \(route.name.text)")
                func answers\(name)() async throws {
                    let host = try await makeHost()
                    let request = \(names.type).\(name)Request(\(values))
                    let reply = try await host.call(id, "\(route.name.text)", request)
                    #expect(try reply.decode(\(names.type).\(name)Request.self) == request)
                }
            """
    }

    private func test(of task: ModuleParts.NamePart) -> String {
        """
            @Test("has the result of \(task.text)")
            func runs\(task.suffix)() async throws {
                let host = try await makeHost()
                try await host.startupTask("\\(id)/\(task.text)")
                let result = try await host.module(\(names.type).self) { $0.resultOf\(task.suffix) }
                #expect(result == "\(task.text) is done")
            }
        """
    }
}
