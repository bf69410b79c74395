import AppService

extension Command {
    static let wait = Command(
        name: "wait", summary: "wait until the host is ready or a module runs",
        discussion: """
            For scripts that start a host. Without --for, it waits until the host is ready. With --for, it
            waits until the module runs; until a lazy module can be used; or until a program that ends has
            done its work. --ready adds the host to that.

            Where no host runs yet, it waits for one. A host that stops or dies meanwhile may be started
            again: the command waits for the next one until its time is up.
            """,
        options: [
            Option(name: "ready", help: "wait until the host is ready (default without --for)"),
            Option(name: "for", placeholder: "MODULE", help: "wait until the module runs"),
            Option(
                name: "timeout", placeholder: "TIME",
                help: "how long to wait (default: \(HostWaiter.time.briefText))"),
            .slatefile, .stateDirectory, .json,
        ],
        exitCodes: clientExitCodes,
        exitMeanings: [
            .success: "it is so",
            .unavailable: "no host runs when the time is up; or no such module",
            .failed: "the host or the module has failed for good",
            .busy: "the time is up, and something is missing still",
            .inputOutput: "input or output failed",
            .notPermitted: "the host is another user's",
        ],
        examples: [
            Example(line: "wait --timeout 10s", explanation: "until the host is ready"),
            Example(
                line: "wait --for com.mm.store || exit 1", explanation: "in a script"),
        ],
        usageError: { arguments in
            do throws(DurationError) {
                _ = try limit(arguments)
                return nil
            } catch {
                return "--timeout: \(error)"
            }
        },
        run: { arguments in
            let waiter = HostWaiter(arguments, within: (try? limit(arguments)) ?? HostWaiter.time)
            do throws(HostClientError) {
                return report(try waiter.wait(), arguments)
            } catch {
                Console.printError("\(arguments.title): \(error)")
                return error.exitCode
            }
        })

    private static func limit(_ arguments: Arguments) throws(DurationError) -> Duration {
        guard let text = arguments["timeout"] else { return HostWaiter.time }
        return try Duration(reading: text)
    }

    private static func report(_ outcome: JSONValue, _ arguments: Arguments) -> ExitCode {
        let word = outcome["outcome"]?.string
        let code: ExitCode =
            switch word {
            case "met": .success
            case "waiting": .busy
            case "no-host": .unavailable
            default: .failed
            }
        if arguments.has("json") { return Console.write(json: outcome, then: code) }
        let module = arguments["for"]
        if code == .success {
            let isReady = module == nil || arguments.has("ready")
            let parts = [isReady ? "ready" : nil, module.map { "\($0) can be used" }]
            return Console.write("\(parts.compactMap(\.self).joined(separator: "; "))\n")
        }
        let missing = outcome["missing"]?.elements.compactMap(\.string) ?? []
        let reason = outcome["reason"]?.string ?? missing.joined(separator: "; ")
        let time = ((try? limit(arguments)) ?? HostWaiter.time).briefText
        let title = arguments.title
        switch code {
        case .failed: Console.printError("\(title): failed for good: \(reason)")
        default: Console.printError("\(title): time is up after \(time): \(reason)")
        }
        return code
    }
}
