extension Command {
    static let unload = Command(
        name: "unload", summary: "unload a lazy module until it is needed again",
        discussion: """
            The module receives the shutdown events and is released. It must have "launch": "lazy" in
            the slatefile; the next call, event or service that needs it makes it again. Where modules
            wait for it, since it had failed, it is made again at once for those.
            """,
        operands: [Operand(placeholder: "MODULE", isRequired: true, help: "the id of the module")],
        options: [.slatefile, .stateDirectory, .json],
        exitCodes: clientExitCodes,
        exitMeanings: clientExitMeanings.merging([
            .success: "it is unloaded, or was not made",
            .unavailable: "no host runs on the state directory, or it has no such module",
            .failed: "it stays: it is not lazy, or runs for another module",
        ]) { $1 },
        run: { arguments in
            HostCall.run(arguments) { call throws(HostClientError) in
                let module = arguments.operands[0]
                // No limit on the wait: every step of the unloading has a deadline of its own.
                let result = try call.client.call("unload", within: nil) {
                    $0.object { $0.member("module", module) }
                }
                let outcome = result["outcome"]?.string
                let code: ExitCode = outcome == "refused" ? .failed : .success
                if arguments.has("json") { return Console.write(json: result, then: code) }
                switch outcome {
                case "unloaded": return Console.write("unloaded\n")
                case "not-made": return Console.write("nothing to unload: it has not been made\n")
                default:
                    Console.printError(
                        "\(arguments.title): \(result["reason"]?.string ?? result.text)")
                    return code
                }
            }
        })
}
