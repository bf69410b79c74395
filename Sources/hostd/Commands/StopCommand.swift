import ModuleHost

extension Command {
    static let stop = Command(
        name: "stop", summary: "stop the host, wait for its end, and return the outcome",
        discussion: """
            Modules are told in their order, as by SIGTERM. Exit 70 means that the host ended, but not
            as it should.
            """,
        options: [.slatefile, .stateDirectory, .json],
        exitCodes: clientExitCodes,
        run: { arguments in
            HostCall.run("stop", arguments) { call throws(ControlClientError) in
                let outcome: JSONValue
                do throws(ControlClientError) {
                    // However long it takes: the host itself ends a stop that takes too long.
                    outcome = try call.client.call("stop", within: nil)
                    _ = try call.client.waitForEnd(within: nil)
                } catch .ended {
                    PidFile.waitForRelease(of: call.directory)
                    Console.complain("hostd stop: the host ended without saying how")
                    return .failed
                }
                PidFile.waitForRelease(of: call.directory)
                return report(outcome, asJSON: arguments.has("json"))
            }
        })

    private static func report(_ outcome: JSONValue, asJSON: Bool) -> ExitCode {
        let code: ExitCode = outcome["outcome"]?.string == "stopped" ? .success : .failed
        if asJSON { return Console.write(outcome.text + "\n", then: code) }
        switch outcome["outcome"]?.string {
        case "stopped": return Console.write("stopped\n")
        case "overdue":
            let modules = outcome["modules"]?.elements.compactMap(\.string) ?? []
            Console.complain(
                "hostd stop: the stop took too long; left behind: "
                    + (modules.isEmpty ? "nobody" : modules.joined(separator: ", ")))
        default:
            Console.complain("hostd stop: stopped: \(outcome["reason"]?.string ?? outcome.text)")
        }
        return code
    }
}
