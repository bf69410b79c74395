import ModuleHost

extension Command {
    static let restart = Command(
        name: "restart", summary: "restart a module",
        discussion: """
            Another one is made and launched beside it, and takes its place between two events; where that
            fails, the old one stays. The process of a module that does not answer is killed, and started
            again. As at any reload, modules that take settings are told of them again.
            """,
        operands: [Operand(placeholder: "MODULE", isRequired: true, help: "the id of the module")],
        options: [.slatefile, .stateDirectory, .json],
        exitCodes: clientExitCodes,
        exitMeanings: clientExitMeanings.merging([
            .success: "it runs again, or is about to",
            .failed: "it could not be made or launched: the old one stays",
        ]) { $1 },
        run: { arguments in
            HostCall.run("restart", arguments) { call throws(ControlClientError) in
                let module = arguments.operands[0]
                // As long as it takes: every step of it has a deadline of its own.
                let result = try call.client.call("restart", within: nil) {
                    $0.object { $0.member("module", module) }
                }
                let outcome = result["outcome"]?.string
                let code: ExitCode = outcome == "failed" ? .failed : .success
                if arguments.has("json") { return Console.write(json: result, then: code) }
                switch outcome {
                case "restarted": return Console.write("restarted\n")
                case "killed":
                    return Console.write("it did not answer: killed, and started again\n")
                case "postponed":
                    return Console.write("it is unresponsive: recreated when it returns\n")
                default:
                    Console.complain(
                        "hostd restart: the old one stays: \(result["reason"]?.string ?? result.text)"
                    )
                    return code
                }
            }
        })
}
