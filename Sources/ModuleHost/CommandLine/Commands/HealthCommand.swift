import AppService

extension Command {
    private static let healthTime: Duration = .seconds(10)

    static let health = Command(
        name: "health", summary: "exit with 0 if the host is ready and healthy",
        discussion: """
            A health check for environments without a service manager, such as a container's HEALTHCHECK.
            The request goes through the lane, the thread that runs the modules. A host is unhealthy while
            eight of its modules, or half of them, are unresponsive: it should be restarted then. Fewer
            unresponsive modules, and failed ones, are only listed; with --strict, a failed module makes
            the host unhealthy, too.
            """,
        options: [
            .slatefile, .stateDirectory,
            Option(
                name: "within", placeholder: "TIME",
                help: "how long the host may take to answer (default: \(healthTime.briefText))"),
            Option(name: "strict", help: "a module that failed makes the host unhealthy"),
            .json,
        ],
        exitCodes: clientExitCodes,
        exitMeanings: clientExitMeanings.merging([
            .success: "ready and healthy",
            .failed: "unhealthy",
            .busy: "not ready yet, stopping, or no answer in time",
        ]) { $1 },
        examples: [
            Example(
                before: "HEALTHCHECK CMD ", line: "health || exit 1",
                explanation: "in a Dockerfile")
        ],
        usageError: { arguments in
            do throws(DurationError) {
                _ = try limit(arguments)
                return nil
            } catch {
                return "--within: \(error)"
            }
        },
        run: { arguments in
            let limit = (try? limit(arguments)) ?? healthTime
            return HostCall.run(arguments, within: limit) {
                call throws(HostClientError) in
                // The host responds in time, and reports the reason if it is not healthy.
                let health = try call.client.call("health", within: limit + .seconds(1)) {
                    $0.object { $0.member("withinMs", limit.wholeNanoseconds / 1_000_000) }
                }
                return report(health, arguments)
            }
        })

    private static func limit(_ arguments: Arguments) throws(DurationError) -> Duration {
        guard let text = arguments["within"] else { return healthTime }
        return min(try Duration(reading: text), .seconds(600))
    }

    private static func report(_ health: JSONValue, _ arguments: Arguments) -> ExitCode {
        let hasFailed = health["failed"]?.count ?? 0 > 0
        let (word, code): (String, ExitCode) =
            if health["ready"]?.bool != true {
                ("not ready", .busy)
            } else if health["healthy"]?.bool != true || hasFailed && arguments.has("strict") {
                ("unhealthy", .failed)
            } else {
                ("healthy", .success)
            }
        if arguments.has("json") { return Console.write(json: health, then: code) }
        var text = "\(word): \(health["state"]?.string ?? "?")"
        if let count = health["modules"]?.int {
            text += ", \(count) \(count == 1 ? "module" : "modules")"
        }
        let unresponsive = health["unresponsive"]
        for (what, modules) in [("unresponsive", unresponsive), ("failed", health["failed"])] {
            let names = modules?.elements.compactMap(\.string) ?? []
            if !names.isEmpty { text += "; \(what): \(names.shortList(atMost: 20))" }
        }
        if let problem = health["problem"]?.string { text += "; inbox: \(problem)" }
        if let module = health["launching"]?.string {
            text += "; a reload launches \(module), which keeps the host busy"
        }
        return Console.write("\(text)\n", then: code)
    }
}
